/// A node of a YAML document, with the line where it begins. Aliases are refused, so every node is literal.
struct Node {
    struct Scalar {
        let string: String
        /// Written without quotes, and not as a block.
        let isPlain: Bool
    }

    enum Content {
        case scalar(Scalar)
        case sequence([Node])
        case mapping([(key: Node, value: Node)])
    }

    /// From 1.
    let line: Int
    let content: Content

    var scalar: Scalar? { if case .scalar(let scalar) = content { scalar } else { nil } }
}
