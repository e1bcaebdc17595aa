public import Discovery
