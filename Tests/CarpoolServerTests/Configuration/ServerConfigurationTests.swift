import CarpoolSystem
import CarpoolRPC
@testable import CarpoolServer
import Testing

struct ServerConfigurationTests {
    private static func read(_ text: String) throws -> ServerConfiguration {
        let folder = TemporaryFolder()
        return try ServerConfiguration.read(from: folder.write("config.json", text))
    }

    @Test func aFileThatIsNotThereMeansTheDefaults() throws {
        #expect(try ServerConfiguration.read(from: TemporaryFolder()("config.json")) == ServerConfiguration())
        #expect(try Self.read("{}") == ServerConfiguration())
    }

    @Test func everySettingIsRead() throws {
        let configuration = try Self.read(
            """
            {"limits": {"line_bytes": 70000, "spool_bytes": 0}, "access": {"uids": {"7": "observe", "8": "submit"}},
             "log_level": "debug", "idle_exit_ms": 1, "drain_ms": 2, "http2": false}
            """)
        #expect(configuration.limits.lineBytes == 70_000)
        #expect(configuration.limits.spoolBytes == 0)
        #expect(configuration.roles == [7: .observe, 8: .submit])
        #expect(configuration.logLevel == .debug)
        #expect(configuration.idleExitMilliseconds == 1)
        #expect(configuration.drainMilliseconds == 2)
        #expect(!configuration.allowsHTTP2)
        #expect(configuration.audience == .everyone)
        #expect(ServerConfiguration().audience == .owner)
    }

    @Test(
        "A refusal names the file, the place and the remedy",
        arguments: [
            (#"{"drain": 1}"#, ["configuration.drain", "drain_ms"]),
            (#"{"limits": {"line_byte": 70000}}"#, ["configuration.limits.line_byte", "line_bytes"]),
            (#"{"limits": {"line_bytes": 1}}"#, ["configuration.limits.line_bytes", "4096"]),
            (#"{"log_level": "loud"}"#, ["configuration.log_level", "debug"]),
            (#"{"access": {"uids": {"root": "admin"}}}"#, ["configuration.access.uids.root", "numeric"]),
            (#"{"access": {"uids": {"4294967296": "admin"}}}"#, ["configuration.access.uids.4294967296"]),
            (#"{"access": {"uids": {"7": "owner"}}}"#, ["configuration.access.uids.7", "observe"]),
            ("{\n  \"http2\": true,\n}", ["line 3"]),
            (#"{"http2": true, "http2": false}"#, ["configuration.http2", "twice"]),
            ("[]", ["configuration"]), ("", ["line"]),
        ])
    func refusals(_ text: String, _ words: [String]) throws {
        let error = try #require(throws: ServerError.self) { try Self.read(text) }
        for word in ["config.json"] + words { #expect(error.description.contains(word), "\(error)") }
        #expect(!error.description.contains("\n"))
    }

    @Test func whatCannotBeReadIsRefused() throws {
        let folder = TemporaryFolder()
        let directory = try #require(throws: ServerError.self) { try ServerConfiguration.read(from: folder.path) }
        #expect(directory.description.contains(folder.path))
        let large = folder.write("large.json", String(repeating: " ", count: 300_000))
        #expect(throws: ServerError.self) { try ServerConfiguration.read(from: large) }
    }

    @Test func differencesAreToldByName() throws {
        let old = ServerConfiguration()
        #expect(old.differences(from: old).isEmpty)
        var new = old
        new.limits.sessions = 3
        new.limits.hostConnections = 1
        new.roles = [7: .observe]
        new.logLevel = .debug
        new.idleExitMilliseconds = 0
        new.drainMilliseconds = 0
        new.allowsHTTP2 = false
        #expect(
            new.differences(from: old) == [
                "limits.sessions", "limits.host_connections", "access.uids", "log_level", "idle_exit_ms", "drain_ms",
                "http2",
            ])
    }

    @Test func whatNeedsARestartStaysInForce() throws {
        let old = ServerConfiguration()
        var new = old
        for field in Limits.fields { new.limits[keyPath: field.path] = field.range.lowerBound }
        new.allowsHTTP2 = false
        new.turnsCacheOff = true
        let names = Set(new.differences(from: old))
        #expect(ServerConfiguration.restartOnly.isSubset(of: names), "a name that no setting has")
        new.keepWhatNeedsRestart(of: old)
        #expect(names.subtracting(new.differences(from: old)) == ServerConfiguration.restartOnly)
    }
}
