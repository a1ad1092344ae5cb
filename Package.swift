// swift-tools-version: 6.2
import PackageDescription

// One array for every Swift target: the language settings are part of the house (docs/internals/architecture.md).
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

// The floors. An edge that is missing here may not be imported; Tests/LayeringTests owns the same table.
let package = Package(
    name: "Carpool",
    products: [
        .library(name: "CarpoolSession", targets: ["CarpoolSession"]),
        .executable(name: "carpoold", targets: ["carpoold"]),
        .executable(name: "carpool", targets: ["carpool"]),
    ],
    targets: [
        // floor 0: C
        // Without pkg-config: SwiftPM refuses some of its flags for libcurl with a warning, and the header and the
        // library are in their usual places.
        .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CTLS", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CCrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CJansson", pkgConfig: "jansson", providers: [.apt(["libjansson-dev"])]),
        .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CPublicSuffix", providers: [.apt(["libpsl-dev"])]),
        .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
        .target(name: "CLinux", cSettings: [.define("_GNU_SOURCE"), .treatAllWarnings(as: .error)]),
        // Apart from CLinux, because a static program, such as the command, has no C library in front of which it could
        // stand.
        .target(name: "COverrides", cSettings: [.define("_GNU_SOURCE"), .treatAllWarnings(as: .error)]),

        // floor 1: ground
        .target(name: "CarpoolSystem", dependencies: ["CLinux"], swiftSettings: settings),
        .target(name: "CarpoolJSON", dependencies: ["CJansson"], swiftSettings: settings),

        // floor 2: domains
        .target(
            name: "CarpoolHTTP", dependencies: ["CCurl", "CLinux", "COverrides", "CTLS", "CZlib", "CarpoolSystem"],
            swiftSettings: settings),
        .target(
            name: "CarpoolCache", dependencies: ["CSQLite", "CarpoolHTTP", "CarpoolSystem"], swiftSettings: settings),
        .target(
            name: "CarpoolSession",
            dependencies: [
                "CCrypto", "CPublicSuffix", "CZlib", "CarpoolCache", "CarpoolHTTP", "CarpoolJSON", "CarpoolSystem",
            ], swiftSettings: settings),
        .target(name: "CarpoolReachability", dependencies: ["CLinux", "CarpoolSystem"], swiftSettings: settings),
        .target(name: "CarpoolRPC", dependencies: ["CarpoolJSON"], swiftSettings: settings),

        // floor 3: joints
        .target(
            name: "CarpoolServer",
            dependencies: [
                "CarpoolRPC", "CarpoolSession", "CarpoolReachability", "CarpoolCache", "CarpoolHTTP", "CarpoolJSON",
                "CarpoolSystem",
            ],
            swiftSettings: settings),
        .target(
            name: "CarpoolClient", dependencies: ["CarpoolRPC", "CarpoolJSON", "CarpoolSystem"],
            swiftSettings: settings),

        // floor 4: the command
        .target(
            name: "CarpoolCaller", dependencies: ["CarpoolClient", "CarpoolJSON", "CarpoolSystem"],
            swiftSettings: settings),
        .target(
            name: "CarpoolExchange", dependencies: ["CarpoolJSON", "CarpoolSystem"], swiftSettings: settings),
        .target(
            name: "CarpoolCurl",
            dependencies: ["CarpoolExchange", "CarpoolCaller", "CarpoolClient", "CarpoolJSON", "CarpoolSystem"],
            swiftSettings: settings),
        .target(
            name: "CarpoolCLI",
            dependencies: [
                "CarpoolCurl", "CarpoolExchange", "CarpoolCaller", "CarpoolClient", "CarpoolRPC", "CarpoolJSON",
                "CarpoolSystem",
            ], swiftSettings: settings),

        // floor 5: programs
        .executableTarget(
            name: "carpoold", dependencies: ["CarpoolServer", "CarpoolSystem"], swiftSettings: settings,
            // Without the dynamic runtime it starts 2 ms sooner and spends 4 % less on a request.
            linkerSettings: [.unsafeFlags(["-static-stdlib"])]),
        .executableTarget(
            name: "carpool", dependencies: ["CarpoolCLI"], swiftSettings: settings,
            linkerSettings: [.unsafeFlags(["-static-executable"])]),

        // tests mirror Sources
        .testTarget(name: "CarpoolSystemTests", dependencies: ["CarpoolSystem"], swiftSettings: settings),
        .testTarget(name: "CarpoolJSONTests", dependencies: ["CarpoolJSON"], swiftSettings: settings),
        .testTarget(name: "CarpoolRPCTests", dependencies: ["CarpoolRPC", "CarpoolJSON"], swiftSettings: settings),
        .testTarget(name: "CarpoolHTTPTests", dependencies: ["CarpoolHTTP", "CarpoolSystem"], swiftSettings: settings),
        .testTarget(
            name: "CarpoolCacheTests", dependencies: ["CarpoolCache", "CarpoolHTTP", "CarpoolSystem"],
            swiftSettings: settings),
        .testTarget(
            name: "CarpoolReachabilityTests", dependencies: ["CarpoolReachability", "CarpoolSystem"],
            swiftSettings: settings),
        .testTarget(
            name: "CarpoolSessionTests",
            dependencies: ["CarpoolSession", "CarpoolHTTP", "CarpoolJSON", "CarpoolSystem"],
            swiftSettings: settings),
        .testTarget(
            name: "CarpoolServerTests",
            dependencies: [
                "CarpoolServer", "CarpoolRPC", "CarpoolSession", "CarpoolReachability", "CarpoolHTTP", "CarpoolJSON",
                "CarpoolSystem",
            ], swiftSettings: settings),
        .testTarget(
            name: "CarpoolClientTests", dependencies: ["CarpoolClient", "CarpoolSystem"], swiftSettings: settings),
        .testTarget(
            name: "CarpoolCallerTests", dependencies: ["CarpoolCaller", "CarpoolJSON"], swiftSettings: settings),
        .testTarget(
            name: "CarpoolExchangeTests", dependencies: ["CarpoolExchange", "CarpoolSystem"], swiftSettings: settings),
        .testTarget(
            name: "CarpoolCurlTests", dependencies: ["CarpoolCurl", "CarpoolExchange", "CarpoolJSON", "CarpoolSystem"],
            swiftSettings: settings),
        .testTarget(
            name: "CarpoolCLITests",
            dependencies: [
                "CarpoolCLI", "CarpoolCurl", "CarpoolExchange", "CarpoolCaller", "CarpoolClient", "CarpoolJSON",
                "CarpoolSystem",
            ], swiftSettings: settings),
        .testTarget(name: "LayeringTests", swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)

// Fuzzing takes a build of its own, in which every target counts what it covers: Tests/Fuzz/run.
if Context.environment["CARPOOL_FUZZ"] != nil {
    package.targets.append(
        .executableTarget(
            name: "Fuzz",
            dependencies: [
                "CCurl", "CJansson", "CTLS", "CarpoolRPC", "CarpoolSession", "CarpoolReachability", "CarpoolHTTP",
                "CarpoolJSON",
            ],
            path: "Tests/Fuzz", exclude: ["run", "seeds"],
            // libFuzzer brings the main function.
            swiftSettings: settings + [.unsafeFlags(["-parse-as-library"])]))
}
