import Foundation
import Testing

/// The libraries that the built daemon loads. A dependency that links Foundation would cost start-up time and memory.
struct LinkageTests {
    private static let daemon = SourceTree.root.appendingPathComponent(".build/release/carpoold")

    /// Only if there is a release build; Tests/run makes it before the tests.
    private static var isBuilt: Bool { FileManager.default.isExecutableFile(atPath: daemon.path) }

    @Test(.enabled(if: isBuilt)) func theDaemonLinksNoFoundation() throws {
        let libraries = try Self.neededLibraries(of: Self.daemon)
        #expect(libraries.contains { $0.hasPrefix("libc.so") }, "readelf listed no library at all")
        #expect(libraries.filter { $0.contains("Foundation") } == [])
    }

    private static func neededLibraries(of program: URL) throws -> [String] {
        let readelf = Process()
        readelf.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        readelf.arguments = ["readelf", "--dynamic", "--wide", program.path]
        let output = Pipe()
        readelf.standardOutput = output
        try readelf.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        readelf.waitUntilExit()
        return String(decoding: data, as: UTF8.self)
            .matches(of: /\(NEEDED\).*\[(.+)\]/).map { String($0.1) }
    }
}
