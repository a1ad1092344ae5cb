@testable import CarpoolSystem
import Glibc
import Testing

struct SocketLocationTests {
    private func resolve(
        _ variables: [String: String], option: String? = nil, ours: [String: UInt32] = [:]
    ) -> SocketLocation {
        SocketLocation.resolve(option: option, environment: Environment(variables), uid: 7) { path in
            ours[path].map { .ours(mode: $0) } ?? .absent
        }
    }

    private let everything = [
        "CARPOOL_SOCKET": "/v/c.sock", "XDG_RUNTIME_DIR": "/run/x", "XDG_STATE_HOME": "/state", "HOME": "/home/a",
    ]

    @Test func theOptionComesFirst() {
        let location = resolve(everything, option: "/o/c.sock", ours: ["/run/x": 0o700])
        #expect(location.path == "/o/c.sock")
        #expect(location.rule == .option)
        #expect(location.lockPath == "/o/c.sock.lock")
        #expect(location.isExplicit)
        #expect(location.directories == [])
    }

    @Test func thenTheVariable() {
        let location = resolve(everything, ours: ["/run/x": 0o700])
        #expect(location.path == "/v/c.sock")
        #expect(location.rule == .variable)
        #expect(location.lockPath == "/v/c.sock.lock")
        #expect(location.isExplicit)
    }

    @Test func aRelativePathIsMadeAbsolute() {
        #expect(resolve([:], option: "c.sock").path.hasSuffix("/c.sock"))
        #expect(resolve([:], option: "c.sock").path.hasPrefix("/"))
    }

    @Test func thenTheRuntimeDirectoryIfItIsOursAlone() {
        let variables = ["XDG_RUNTIME_DIR": "/run/x", "HOME": "/home/a"]
        let location = resolve(variables, ours: ["/run/x": 0o700, "/run/user/7": 0o700])
        #expect(location.path == "/run/x/carpool/carpool.sock")
        #expect(location.lockPath == "/home/a/.local/state/carpool/carpoold.lock")
        #expect(location.directories == ["/run/x/carpool"])
        #expect(!location.isExplicit)
        #expect(resolve(variables, ours: ["/run/x": 0o755]).rule == .state)
        #expect(resolve(variables).rule == .state)
    }

    @Test func thenTheUsersRuntimeDirectoryEvenUnset() {
        let location = resolve(["HOME": "/home/a"], ours: ["/run/user/7": 0o700])
        #expect(location.path == "/run/user/7/carpool/carpool.sock")
        #expect(location.rule == .userRuntimeDirectory)
    }

    @Test func thenTheStateDirectory() {
        #expect(resolve(["XDG_STATE_HOME": "/state"]).path == "/state/carpool/run/carpool.sock")
        let location = resolve(["HOME": "/home/a"])
        #expect(location.path == "/home/a/.local/state/carpool/run/carpool.sock")
        #expect(location.directories == ["/home/a/.local/state/carpool", "/home/a/.local/state/carpool/run"])
    }

    @Test func aStatePathThatIsTooLongGoesBelowTmp() {
        // 107 bytes are the most: "/carpool/run/carpool.sock" takes 25 of them.
        let fits = "/" + String(repeating: "s", count: 81)
        #expect(resolve(["XDG_STATE_HOME": fits]).rule == .state)
        #expect(resolve(["XDG_STATE_HOME": fits]).path.utf8.count == 107)
        let location = resolve(["XDG_STATE_HOME": fits + "s"])
        #expect(location.path == "/tmp/carpool-7/carpool.sock")
        #expect(location.rule == .temporary)
        #expect(location.lockPath == fits + "s/carpool/carpoold.lock")
    }

    @Test func withoutHomeTheStateLiesBelowTmp() {
        #expect(resolve([:]).path == "/tmp/carpool-7/run/carpool.sock")
        #expect(resolve([:]).lockPath == "/tmp/carpool-7/carpoold.lock")
    }

    @Test func emptyAndRelativeVariablesCountAsUnset() {
        let location = resolve(["CARPOOL_SOCKET": "", "XDG_RUNTIME_DIR": "run", "XDG_STATE_HOME": "s", "HOME": "/h"])
        #expect(location.path == "/h/.local/state/carpool/run/carpool.sock")
    }

    @Test func directoriesFollowTheirVariables() {
        let homes = Directories(environment: Environment(["HOME": "/h", "XDG_CONFIG_HOME": "/c"]), uid: 7)
        #expect(homes.configuration == "/c/carpool")
        #expect(homes.cache == "/h/.cache/carpool")
        #expect(homes.log == "/h/.local/state/carpool/carpoold.log")
        #expect(Directories(environment: Environment([:]), uid: 7).configuration == "/tmp/carpool-7/config")
    }

    @Test func preparingMakesPrivateDirectories() throws {
        let root = TemporaryDirectory()
        let environment = Environment(["XDG_STATE_HOME": root("a/state")])
        let location = SocketLocation.resolve(option: nil, environment: environment, uid: geteuid()) { _ in .absent }
        try location.prepare()
        try location.prepare()
        #expect(mode(of: root("a/state/carpool")) == 0o700)
        #expect(mode(of: root("a/state/carpool/run")) == 0o700)
        try location.prepare(for: .everyone)
        #expect(mode(of: root("a/state/carpool/run")) == 0o755)
    }

    @Test func aLinkInPlaceOfTheDirectoryIsRefused() throws {
        let root = TemporaryDirectory()
        symlink("/tmp", root("carpool"))
        let error = #expect(throws: SystemError.self) { try PrivateDirectory.create(root("carpool")) }
        #expect(error?.code == EPERM)
        #expect(PrivateDirectory.inspect(root("carpool")) == .foreign)
    }

    @Test(.enabled(if: geteuid() == 0)) func anotherUsersDirectoryIsRefused() throws {
        let root = TemporaryDirectory()
        try PrivateDirectory.create(root("carpool"))
        chown(root("carpool"), 65534, 65534)
        #expect(throws: SystemError.self) { try PrivateDirectory.create(root("carpool")) }
    }
}
