import Foundation
import Testing

/// The first inputs of the fuzzer (`Tests/Fuzz/seeds`), through the same targets. The files of the targets are links to
/// those of `Tests/Fuzz`; generated inputs run in `Tests/run --long`.
@Suite struct FuzzSeedTests {
    /// The inputs of all targets, made once: certificates have new keys each time.
    private static let folder: Result<URL, any Error> = Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "carpool-seeds-\(UUID().uuidString)")
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let program = tests.deletingLastPathComponent().appending(path: "Fuzz/seeds")
        let process = try Process.run(program, arguments: [folder.path])
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "Tests/Fuzz/seeds has failed")
        return folder
    }

    enum Target: String, CaseIterable, CustomTestStringConvertible {
        case framer, tokenizer, messages, heads, routes, plists, forms, urls, certificates

        var testDescription: String { rawValue }

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

    @Test(arguments: Target.allCases)
    func seedsAndTheirBeginningsPass(target: Target) throws {
        let folder = try Self.folder.get().appending(path: target.rawValue)
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        #expect(files.count >= 5)
        for file in files {
            let data = try Data(contentsOf: file)
            // What a connection that breaks leaves of it, too.
            for length in [data.count, data.count / 2, data.count - 1] where length > 0 {
                data.prefix(length).withUnsafeBytes { target.run($0) }
            }
        }
    }
}

/// Ends the process: what a target says of an input that has failed.
func fail(_ reason: String) -> Never { fatalError(reason) }

/// Records a failure unless the condition holds.
func require(_ condition: Bool, _ reason: @autoclosure () -> String) {
    if !condition { Issue.record(Comment(rawValue: reason())) }
}
