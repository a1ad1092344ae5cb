import CarpoolSystem
import Foundation
import Testing

@testable import CarpoolCurl

/// Which curl runs in the place of the command.
struct CurlFallbackTests {
    private static func path(_ variables: [String: String]) -> String? {
        CurlFallback(count: 0, environment: Environment(variables)).candidates().first
    }

    /// Folders below one of their own: `real` has a curl, `plain` one that cannot be executed, `folder` a folder of
    /// that name, `own` a link to this program.
    private static func folders() throws -> TemporaryFolder {
        let place = try TemporaryFolder()
        let files = FileManager.default
        for name in ["real", "plain", "folder/curl", "own", "empty", "link"] {
            try files.createDirectory(atPath: "\(place.path)/\(name)", withIntermediateDirectories: true)
        }
        for (name, mode) in [("real", 0o755), ("plain", 0o644)] {
            try place.write("\(name)/curl", Array("#!/bin/sh\n".utf8))
            try files.setAttributes([.posixPermissions: mode], ofItemAtPath: "\(place.path)/\(name)/curl")
        }
        let own = try files.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        try files.createSymbolicLink(atPath: "\(place.path)/own/curl", withDestinationPath: own)
        try files.createSymbolicLink(
            atPath: "\(place.path)/link/curl", withDestinationPath: "\(place.path)/real/curl")
        return place
    }

    @Test(
        "The first curl on PATH that is a program, and not this one",
        arguments: [
            (["real"], "real"), (["empty", "real"], "real"), (["plain", "folder", "real"], "real"),
            (["own", "real"], "real"), (["link", "real"], "link"), (["none", "empty"], nil), (["own"], nil),
            (["plain"], nil), (["folder"], nil),
        ] as [([String], String?)])
    func first(_ names: [String], _ expected: String?) throws {
        let place = try Self.folders()
        let path = names.map { "\(place.path)/\($0)" }.joined(separator: ":")
        #expect(Self.path(["PATH": path]) == expected.map { "\(place.path)/\($0)/curl" })
    }

    @Test func withoutPATHTheUsualFoldersAreSearched() {
        let usual = ["/usr/local/bin", "/usr/bin", "/bin"].map { "\($0)/curl" }
        let expected = usual.first { FileManager.default.isExecutableFile(atPath: $0) }
        #expect(Self.path([:]) == expected)
    }

    @Test func foldersOfTheCurrentOneAreNotSearched() throws {
        let place = try Self.folders()
        let files = FileManager.default
        let upward = String(repeating: "../", count: files.currentDirectoryPath.split(separator: "/").count)
        let relative = "\(upward)\(place.path.dropFirst())/real"
        #expect(files.isExecutableFile(atPath: "\(relative)/curl"))
        for path in [relative, ":\(relative):."] { #expect(Self.path(["PATH": path]) == nil) }
        #expect(Self.path(["PATH": "\(relative)::\(place.path)/link"]) == "\(place.path)/link/curl")
    }

    @Test func whatWasRunIsPassedOver() throws {
        let place = try Self.folders()
        let (first, second) = ("\(place.path)/real", "\(place.path)/link")
        let variables = ["PATH": "\(first):\(second):\(first)", CurlFallback.guardVariable: "\(first)/curl"]
        #expect(
            CurlFallback(count: 0, environment: Environment(variables)).candidates() == ["\(second)/curl"])
    }
}
