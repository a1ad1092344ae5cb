internal import Glibc

/// One part that reads unchecked bytes. The environment variable `FUZZ_TARGET` names it; `Tests/Fuzz/run` sets it.
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

    static let chosen: Target = {
        let name = getenv("FUZZ_TARGET").map { String(cString: $0) } ?? ""
        guard let target = Target(rawValue: name) else {
            fail("FUZZ_TARGET is one of \(allCases.map(\.rawValue).joined(separator: ", ")), not \"\(name)\"")
        }
        return target
    }()

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

/// What libFuzzer calls with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    Target.chosen.run(UnsafeRawBufferPointer(start: bytes, count: count))
    return 0
}

/// Ends the process, on which libFuzzer keeps the input.
func fail(_ reason: String) -> Never { fatalError(reason) }

/// Fails unless the condition holds.
func require(_ condition: Bool, _ reason: @autoclosure () -> String) {
    if !condition { fail(reason()) }
}
