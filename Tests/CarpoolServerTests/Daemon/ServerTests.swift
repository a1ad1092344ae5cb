import CarpoolJSON
import CarpoolRPC
@testable import CarpoolServer
@testable import CarpoolSession
import CarpoolSystem
import Testing

struct ServerTests {
    // MARK: Reading the configuration again

    @Test("A reload changes what it can, reports what needs a restart each time, and a refused file changes nothing")
    func reload() throws {
        let stage = try Stage()
        let (server, client) = (stage.server, FakeClient())
        stage.folder.write(
            "config.json", #"{"limits":{"sessions":3,"host_connections":1},"http2":false,"log_level":"error"}"#)
        let first = try stage.call(client, "daemon.config_reload")
        #expect(first["changed"]?.texts == ["limits.sessions"])
        #expect(first["needs_restart"]?.texts == ["limits.host_connections", "http2"])
        #expect(server.limits.sessions == 3)
        #expect(server.spool.limits.sessions == 3)
        let told = try stage.call(client, "daemon.config")
        #expect(told["limits"]?["host_connections"]?.int == 128)
        #expect(told["http2"]?.bool == true)
        let second = try stage.call(client, "daemon.config_reload")
        #expect(second["changed"]?.count == 0)
        #expect(second["needs_restart"]?.count == 2)
        stage.folder.write("config.json", #"{"limits":{"sessions":0},"log_level":"debug"}"#)
        let refusal = try stage.answer(client, "daemon.config_reload")
        #expect(refusal["error"]?["message"]?.string?.contains("limits.sessions") == true)
        #expect(server.limits.sessions == 3)
        #expect(server.log.level == .error)
    }

    @Test("Declared sessions: changes have names, many have one; the sessions that stay are the same objects")
    func declaredSessions() throws {
        let stage = try Stage()
        let (client, owner) = (FakeClient(), stage.server.configuration.access.owner)
        func reload(_ count: Int, _ round: Int) throws -> [String] {
            let sessions = (0..<count).map { #""s\#($0)":{"timeout_ms":\#($0 == 0 ? 1 : round)}"# }
            stage.folder.write(
                "config.json", #"{"log_level":"error","sessions":{\#(sessions.joined(separator: ","))}}"#)
            return try stage.call(client, "daemon.config_reload")["changed"]?.texts ?? []
        }
        #expect(try reload(2, 1) == ["sessions.s0", "sessions.s1"])
        let (first, second) = (stage.session("s0", of: owner), stage.session("s1", of: owner))
        #expect(try reload(2, 2) == ["sessions.s1"])
        #expect(stage.session("s0", of: owner) === first)
        #expect(stage.session("s1", of: owner) !== second)
        #expect(second?.isInvalid == true, "it had no requests")
        #expect(try reload(257, 2).count == 255)
        #expect(try reload(257, 3).count == 256)
        #expect(try reload(0, 1) == ["sessions"])
        #expect(stage.session("s0", of: owner) == nil)
        #expect(stage.server.configuration.current.sessions.isEmpty)
    }

    @Test("The command line's level of the log is not changed by the file")
    func logLevel() throws {
        let stage = try Stage({ _ in }, { $0.logLevel = .error })
        stage.folder.write("config.json", #"{"log_level":"debug"}"#)
        var reload: Result<ConfigurationReload, ServerError>?
        stage.server.reload { reload = $0 }
        stage.run { reload != nil }
        _ = try reload?.get()
        #expect(stage.server.log.level == .error)
    }

    // MARK: The end

    @Test("A drain lets requests end, refuses new ones, and then the daemon ends")
    func drain() throws {
        let stage = try Stage()
        let (server, client) = (stage.server, FakeClient())
        let entry = try stage.submit(client)
        let wait = try stage.send(client, "request.wait", #"{"request":"\#(entry.request.id)"}"#)
        #expect(try stage.call(client, "daemon.drain", #"{"deadline_ms":60000}"#)["state"]?.string == "draining")
        for method in ["request.submit", "request.perform"] {
            #expect(try stage.refusal(client, method, #"{"url":"http://a.test/"}"#)["name"]?.string == "draining")
            // At once, and not when a thread has opened the file: the daemon may have ended by then.
            let upload = #"{"url":"http://a.test/","kind":"upload","body":{"file":"/etc/hostname"}}"#
            #expect(try stage.refusal(client, method, upload)["name"]?.string == "draining")
        }
        #expect(try stage.refusal(client, "session.create", #"{"name":"new"}"#)["name"]?.string == "draining")
        #expect(
            try stage.call(client, "request.get", #"{"request":"\#(entry.request.id)"}"#)["finished"]?.bool == false)
        try stage.finish(entry)
        #expect(try client.answer(wait)["result"]?["outcome"]?["ok"]?.bool == true, "the long poll is answered")
        #expect(server.lifecycle.state == .closing)
        var isStopped = false
        server.onStopped = { isStopped = true }
        stage.run { isStopped }
        #expect(stage.folder.names(in: "") == [], "the spool is deleted")
    }

    @Test("A second request to end cancels all running requests, also of sessions that were invalidated since")
    func stop() throws {
        let stage = try Stage()
        let (server, client) = (stage.server, FakeClient())
        _ = try stage.call(client, "session.create", #"{"name":"gone"}"#)
        let entries = [try stage.submit(client), try stage.submit(client, #","session":"gone""#)]
        _ = try stage.call(client, "session.invalidate", #"{"session":"gone","mode":"finish"}"#)
        server.drain(milliseconds: 60_000)
        server.drain(milliseconds: nil)
        #expect(server.lifecycle.state == .stopping)
        stage.endTurn()
        #expect(entries.map { $0.request.error?.name } == ["explicitly_cancelled", "explicitly_cancelled"])
        #expect(server.lifecycle.state == .closing)
    }

    @Test("A drain that times out cancels the remaining requests")
    func drainDeadline() throws {
        let stage = try Stage()
        let origin = SilentOrigin()
        let entry = try stage.submit(FakeClient(), url: origin.url)
        var isStopped = false
        stage.server.onStopped = { isStopped = true }
        stage.server.drain(milliseconds: 1)
        stage.run { isStopped }
        #expect(entry.request.error?.name == "explicitly_cancelled")
    }

    // MARK: Idleness

    /// What keeps a daemon that was started on demand running.
    enum Need: CaseIterable, Sendable {
        case nothing, request, unreadResult, body, connection
    }

    @Test("A daemon on demand ends when it is idle, and not before", arguments: Need.allCases)
    func idleExit(_ need: Need) throws {
        let stage = try Stage(
            { $0.idleExitMilliseconds = 1 },
            {
                $0.isStartedOnDemand = true
            })
        let (server, client, origin) = (stage.server, FakeClient(), SilentOrigin())
        var release: () throws -> Void = {}
        var peer: Peer?
        switch need {
        case .nothing: break
        case .request, .unreadResult, .body:
            let entry = try stage.submit(client, need == .body ? #","response_body":"file""# : "", url: origin.url)
            if need != .request { try stage.finish(entry, body: [1]) }
            if need == .body { entry.isRead = true }
            release = { _ = try stage.call(client, "request.dismiss", #"{"request":"\#(entry.request.id)"}"#) }
        case .connection:
            peer = try Peer(stage)
            release = { peer?.connection.close() }
        }
        server.armIdleExit()
        var isStopped = false
        server.onStopped = { isStopped = true }
        let start = server.loop.now
        var isReleased = need == .nothing
        stage.run {
            if !isReleased, server.loop.now.microseconds(since: start) > 20_000 {
                #expect(!isStopped)
                isReleased = true
                #expect(throws: Never.self) { try release() }
                server.armIdleExit()
            }
            return isStopped
        }
        #expect(isReleased)
    }

    @Test("A daemon that was started by hand stays")
    func noIdleExit() throws {
        let stage = try Stage { $0.idleExitMilliseconds = 1 }
        stage.server.armIdleExit()
        let start = stage.loop.now
        stage.run { stage.loop.now.microseconds(since: start) > 20_000 }
        #expect(stage.server.lifecycle.isServing)
    }

    // MARK: Bodies

    @Test("The body of a performed request has a lease, that of a kept one goes with it", arguments: [true, false])
    func lease(_ isKept: Bool) throws {
        let stage = try Stage()
        let (server, client) = (stage.server, FakeClient())
        let call = try stage.send(
            client, isKept ? "request.submit" : "request.perform",
            #"{"url":"http://127.0.0.1:1/","response_body":"file"}"#)
        let entry = try #require(server.requests.registry.underWay.first)
        try stage.finish(entry, body: [1, 2, 3])
        let record =
            isKept
            ? try stage.call(client, "request.get", #"{"request":"\#(entry.request.id)"}"#)
            : try #require(try client.answer(call)["result"])
        #expect((record["body"]?["expires"] == nil) == isKept)
        let body = try #require(server.spool.body(of: entry.request.id))
        #expect((body.expires == nil) == isKept)
        let piece = try stage.call(client, "body.read", #"{"request":"\#(entry.request.id)","offset":1}"#)
        #expect(piece["base64"]?.string == "AgM=")
        #expect(piece["eof"]?.bool == true)
        let last = #"{"request":"\#(entry.request.id)","offset":9223372036854775807}"#
        #expect(try stage.call(client, "body.read", last)["base64"]?.string == "")
        _ = try stage.call(client, isKept ? "request.dismiss" : "body.release", #"{"request":"\#(entry.request.id)"}"#)
        #expect(server.spool.count == 0)
        #expect(stage.folder.names(in: "spool").isEmpty)
    }

    @Test("Those of other users may neither read nor release a body")
    func strangers() throws {
        let stage = try Stage()
        let entry = try stage.submit(FakeClient(), #","response_body":"file""#)
        try stage.finish(entry, body: [1])
        let stranger = FakeClient(2, uid: 5, role: .submit)
        for method in ["body.read", "body.release"] {
            let refusal = try stage.refusal(stranger, method, #"{"request":"\#(entry.request.id)"}"#)
            #expect(refusal["name"]?.string == "request.not_found")
        }
        #expect(stage.server.spool.count == 1)
    }

    @Test("Ids are unique, and begin with the run's name")
    func ids() throws {
        let stage = try Stage()
        let ids = try (0..<50).map { _ in try stage.submit(FakeClient()).request.id }
        #expect(Set(ids).count == 50)
        #expect(ids.allSatisfy { $0.hasPrefix("r_\(stage.server.epoch)_") })
    }
}

extension Stage {
    fileprivate func session(_ name: String, of uid: UInt32) -> Session? {
        server.sessions.table.entry(name, of: uid)?.session
    }
}

extension JSON {
    /// The texts of an array of strings.
    fileprivate var texts: [String] { (0..<count).compactMap { self[index: $0]?.string } }
}
