import Foundation
import Testing

/// The first inputs of the fuzzer (`Tests/Fuzz/seeds`), through the same targets. The files of the targets are links to
/// those of `Tests/Fuzz`; generated inputs run in `Tests/run --long`.
@Suite struct FuzzSeedTests {
    /// The inputs of all targets, made once: certificates have new keys each time.
    private static let inputs: Result<[Target: [Data]], any Error> = Result {
        let manager = FileManager.default
        let folder = manager.temporaryDirectory.appending(path: "carpool-seeds-\(UUID().uuidString)")
        defer { try? manager.removeItem(at: folder) }
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let program = tests.deletingLastPathComponent().appending(path: "Fuzz/seeds")
        let process = try Process.run(program, arguments: [folder.path])
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "Tests/Fuzz/seeds has failed")
        return try Dictionary(
            uniqueKeysWithValues: Target.allCases.map { target in
                let place = folder.appending(path: target.rawValue)
                let files = try manager.contentsOfDirectory(at: place, includingPropertiesForKeys: nil)
                return (target, try files.map { try Data(contentsOf: $0) })
            })
    }

    @Test(arguments: Target.allCases)
    func seedsAndTheirBeginningsPass(target: Target) throws {
        let inputs = try #require(try Self.inputs.get()[target])
        #expect(inputs.count >= 5)
        for data in inputs {
            // What a connection that breaks leaves of it, too.
            for length in [data.count, data.count / 2, data.count - 1] where length > 0 {
                data.prefix(length).withUnsafeBytes { target.run($0) }
            }
        }
    }
}

extension Target: CustomTestStringConvertible {
    var testDescription: String { rawValue }
}

/// Ends the process: what a target says of an input that has failed.
func fail(_ reason: String) -> Never { fatalError(reason) }

/// Records a failure unless the condition holds.
func require(_ condition: Bool, _ reason: @autoclosure () -> String) {
    if !condition { Issue.record(Comment(rawValue: reason())) }
}
