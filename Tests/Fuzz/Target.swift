/// One part that reads unchecked bytes.
enum Target: String, CaseIterable {
    case framer
    case tokenizer
    case messages
    case heads
    case routes
    case plists
    case forms
    case urls
    case certificates

    func run(_ input: UnsafeRawBufferPointer) {
        switch self {
        case .framer: FramerTarget.run(input)
        case .tokenizer: TokenizerTarget.run(input)
        case .messages: MessagesTarget.run(input)
        case .heads: HeadsTarget.run(input)
        case .routes: RoutesTarget.run(input)
        case .plists: PropertyListsTarget.run(input)
        case .forms: FormsTarget.run(input)
        case .urls: URLsTarget.run(input)
        case .certificates: CertificatesTarget.run(input)
        }
    }
}
