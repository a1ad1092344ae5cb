import Testing

/// The six floors: what each target may import. SwiftPM lets a file import a dependency of a dependency, so the edges
/// in Package.swift are not enough; this table is the rule, and a new edge is a decision that is recorded here.
private let floors: [String: Set<String>] = [
    // floor 1: ground
    "CarpoolSystem": ["CLinux"],
    "CarpoolJSON": ["CJansson"],
    // floor 2: domains
    "CarpoolHTTP": ["CCurl", "CLinux", "COverrides", "CTLS", "CZlib", "CarpoolSystem"],
    "CarpoolCache": ["CSQLite", "CarpoolHTTP", "CarpoolSystem"],
    "CarpoolSession": [
        "CCrypto", "CPublicSuffix", "CZlib", "CarpoolCache", "CarpoolHTTP", "CarpoolJSON", "CarpoolSystem",
    ],
    "CarpoolReachability": ["CLinux", "CarpoolSystem"],
    "CarpoolRPC": ["CarpoolJSON"],
    // floor 3: joints
    "CarpoolServer": [
        "CarpoolRPC", "CarpoolSession", "CarpoolReachability", "CarpoolCache", "CarpoolHTTP", "CarpoolJSON",
        "CarpoolSystem",
    ],
    "CarpoolClient": ["CarpoolRPC", "CarpoolJSON", "CarpoolSystem"],
    // floor 4: the command
    "CarpoolCaller": ["CarpoolClient", "CarpoolJSON", "CarpoolSystem"],
    "CarpoolExchange": ["CarpoolJSON", "CarpoolSystem"],
    "CarpoolCurl": ["CarpoolExchange", "CarpoolCaller", "CarpoolClient", "CarpoolJSON", "CarpoolSystem"],
    "CarpoolCLI": [
        "CarpoolCurl", "CarpoolExchange", "CarpoolCaller", "CarpoolClient", "CarpoolRPC", "CarpoolJSON",
        "CarpoolSystem",
    ],
    // floor 5: programs
    "carpoold": ["CarpoolServer", "CarpoolSystem"],
    "carpool": ["CarpoolCLI"],
]

/// Part of the platform, so on no floor.
private let platform: Set<String> = ["Swift", "Glibc", "Synchronization"]

/// Floor 0 is C: module maps and shims, with no Swift inside.
private let ground: Set<String> = [
    "CCrypto", "CCurl", "CJansson", "CLinux", "COverrides", "CPublicSuffix", "CSQLite", "CTLS", "CZlib",
]

struct FloorsTests {
    @Test func everyTargetHasAFloor() throws {
        #expect(try SourceTree.targets() == (Array(floors.keys) + Array(ground)).sorted())
    }

    @Test(arguments: floors.keys.sorted()) func importsOnlyWhatItsFloorAllows(_ target: String) throws {
        let allowed = try #require(floors[target]).union(platform)
        for file in try SourceTree.swiftSources() where file.path.hasPrefix("Sources/\(target)/") {
            for (module, line) in file.imports where !allowed.contains(module) {
                Issue.record("\(file.path):\(line): \(target) imports \(module)")
            }
        }
    }

    @Test(arguments: ground.sorted()) func theGroundIsC(_ target: String) throws {
        #expect(try SourceTree.files(under: "Sources/\(target)", suffixes: [".swift"]).map(\.path) == [])
    }
}
