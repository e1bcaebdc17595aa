// libyaml of the system (https://pyyaml.org/wiki/LibYAML), whose events are all that is used.
#include <yaml.h>
