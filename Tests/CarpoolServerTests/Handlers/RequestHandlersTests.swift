import CarpoolJSON
import CarpoolRPC
@testable import CarpoolServer
@testable import CarpoolSession
import CarpoolSystem
import Testing

struct RequestHandlersTests {
    private let stage: Stage
    private let client = FakeClient()

    init() throws { stage = try Stage() }

    private var server: Server { stage.server }
    private let hanging = #"{"url":"http://127.0.0.1:1/"}"#

    /// The only unfinished request.
    private func onlyRequest() throws -> RequestEntry {
        #expect(server.requests.registry.underWay.count == 1)
        return try #require(server.requests.registry.underWay.first)
    }

    // MARK: perform

    @Test("perform answers with the record, and the request is forgotten")
    func perform() throws {
        let call = try stage.send(client, "request.perform", hanging)
        #expect(client.answers.isEmpty)
        try stage.finish(try onlyRequest(), body: Array("hi".utf8))
        #expect(try client.answer(call)["result"]?["body"]?["text"]?.string == "hi")
        #expect(server.requests.registry.count == 0)
        #expect(client.resources.dependents.isEmpty)
        #expect(client.resources.calls.isEmpty)
    }

    @Test("A request that cannot be made is a record too")
    func performAtOnce() throws {
        let record = try stage.call(client, "request.perform", #"{"url":"nowhere"}"#)
        #expect(record["outcome"]?["error"]?["name"]?.string == "invalid_url")
        #expect(server.requests.registry.count == 0)
        #expect(server.requests.registry.active == 0)
    }

    @Test("Cancelling the call does not cancel the request, and its record is kept")
    func cancelTheCall() throws {
        let call = try stage.send(client, "request.perform", hanging)
        let entry = try onlyRequest()
        #expect(try stage.call(client, "rpc.cancel", #"{"id":\#(call)}"#)["changed"]?.bool == true)
        #expect(try client.answer(call)["error"]?["code"]?.int == -32_800)
        #expect(entry.request.state == .resumed)
        try stage.finish(entry, body: [0x78])
        let record = try stage.call(client, "request.get", #"{"request":"\#(entry.request.id)"}"#)
        #expect(record["body"]?["text"]?.string == "x")
        _ = try stage.call(client, "request.dismiss", #"{"request":"\#(entry.request.id)"}"#)
        #expect(server.requests.registry.count == 0)
    }

    @Test("As a notification it makes the request, and does not keep it")
    func performNotification() throws {
        try stage.send(client, "request.perform", hanging, isCall: false)
        try stage.finish(try onlyRequest())
        #expect(client.answers.isEmpty)
        #expect(server.requests.registry.count == 0)
    }

    @Test("Dismissed by another client, it still answers, and leaves nothing behind")
    func performDismissed() throws {
        let call = try stage.send(client, "request.perform", #"{"url":"http://127.0.0.1:1/","response_body":"file"}"#)
        let entry = try onlyRequest()
        try entry.request.receive([1, 2, 3])
        _ = try stage.call(FakeClient(2), "request.dismiss", #"{"request":"\#(entry.request.id)"}"#)
        #expect(try stage.refusal(client, "request.get", #"{"request":"\#(entry.request.id)"}"#)["name"] != nil)
        stage.endTurn()
        let record = try #require(try client.answer(call)["result"])
        #expect(record["state"]?.string == "cancelled")
        #expect(record["body"]?["gone"]?.bool == true)
        #expect(server.requests.registry.count == 0)
        #expect(server.spool.count == 0)
        #expect(stage.folder.names(in: "spool").isEmpty)
    }

    // MARK: keys

    @Test("The same key and the same parameters are the same request, other parameters a conflict")
    func keys() throws {
        let first = try stage.submit(client, #","key":"k""#)
        let again = try stage.call(client, "request.submit", #"{"url":"http://127.0.0.1:1/","key":"k"}"#)
        #expect(again["request"]?.string == first.request.id)
        #expect(again["deduplicated"]?.bool == true)
        let refusal = try stage.refusal(client, "request.submit", #"{"url":"http://127.0.0.1:2/","key":"k"}"#)
        #expect(refusal["request"]?.string == first.request.id)
        #expect(try stage.submit(FakeClient(2, name: "other"), #","key":"k""#) !== first)
        let call = try stage.send(client, "request.perform", #"{"url":"http://127.0.0.1:1/","key":"k"}"#)
        try stage.finish(first)
        #expect(try client.answer(call)["result"]?["request"]?.string == first.request.id)
        #expect(server.requests.registry[first.request.id] === first, "kept for the next repetition")
    }

    // MARK: wait

    @Test("wait answers once, when the request has finished, and not after it was cancelled")
    func wait() throws {
        let entry = try stage.submit(client)
        let params = #"{"request":"\#(entry.request.id)"}"#
        let (first, second) = (
            try stage.send(client, "request.wait", params), try stage.send(client, "request.wait", params)
        )
        _ = try stage.call(client, "rpc.cancel", #"{"id":\#(first)}"#)
        try stage.finish(entry)
        #expect(try client.answer(first)["error"] != nil)
        #expect(try client.answer(second)["result"]?["outcome"]?["ok"]?.bool == true)
        #expect(try stage.call(client, "request.wait", params)["outcome"]?["ok"]?.bool == true)
        #expect(entry.isRead)
    }

    @Test("wait answers at its timeout, and the request continues")
    func waitInVain() throws {
        let origin = SilentOrigin()
        let entry = try stage.submit(client, url: origin.url)
        let call = try stage.send(client, "request.wait", #"{"request":"\#(entry.request.id)","timeout_ms":1}"#)
        stage.run { client.resources.calls.isEmpty }
        #expect(try client.answer(call)["result"]?["finished"]?.bool == false)
    }

    @Test("No wait is longer than the limit")
    func waitBeyondTheLimit() throws {
        let stage = try Stage { $0.limits.longPollMilliseconds = 1 }
        let origin = SilentOrigin()
        let entry = try stage.submit(client, url: origin.url)
        let call = try stage.send(client, "request.wait", #"{"request":"\#(entry.request.id)","timeout_ms":60000}"#)
        let deadline = ContinuousClock.now + .seconds(10)
        stage.run { client.resources.calls.isEmpty || ContinuousClock.now > deadline }
        #expect(try client.answer(call)["result"]?["finished"]?.bool == false)
    }

    @Test("A million notifications that wait take no memory")
    func waitNotification() throws {
        let entry = try stage.submit(client)
        weak var call: Call?
        do {
            try stage.send(client, "request.wait", #"{"request":"\#(entry.request.id)"}"#, isCall: false)
            call = client.resources.calls.values.first
        }
        #expect(call == nil)
        #expect(client.resources.calls.isEmpty)
        #expect(entry.request.whenFinished { _ in } == 2, "only the server and this test wait")
    }

    // MARK: list

    @Test("Pages are in order, of the requested length, and end with null")
    func pages() throws {
        let names = try (0..<7).map { _ in try stage.submit(client).request.id }
        #expect(
            try self.names(in: pagesOf("limit\":3,\"state\":\"resumed"))
                == [names[0..<3], names[3..<6], names[6...]].map(Array.init))
        #expect(try self.names(in: pagesOf("limit\":7,\"state\":\"resumed")) == [names])
        #expect(try self.names(in: pagesOf("limit\":7,\"state\":\"finished")) == [[]])
    }

    /// All pages of a list, as clients read them.
    private func pagesOf(_ filter: String) throws -> [JSON] {
        var pages: [JSON] = []
        var next = ""
        repeat {
            let params = #"{"\#(filter)"\#(next.isEmpty ? "" : #","next":"\#(next)""#)}"#
            pages.append(try stage.call(client, "request.list", params))
            next = pages.last?["next"]?.string ?? ""
        } while !next.isEmpty && pages.count < 1_000
        return pages
    }

    private func names(in pages: [JSON]) -> [[String]] {
        pages.map { page in
            (0..<(page["requests"]?.count ?? 0)).compactMap { page["requests"]?[index: $0]?["request"]?.string }
        }
    }

    @Test(
        "A page ends where the client's line does, with at least one request on it", arguments: [63_487, 20_000, 500])
    func pagesByBytes(_ room: Int) throws {
        client.recordBytes = room
        let tags = (0..<8).map {
            #""\#(String(repeating: "\($0)", count: 128))":"\#(String(repeating: "\\u0001", count: 128))""#
        }
        let names = try (0..<40).map { _ in
            try stage.call(
                client, "request.submit",
                #"{"url":"http://a.test/\#(String(repeating: "é", count: 5_000))","tags":{\#(tags.joined(separator: ","))}}"#
            )["request"]?.string
        }
        let first = try stage.send(client, "request.list")
        let size = try #require(client.answers["\(first)"]).count
        let pages = try pagesOf("scope\":\"mine")
        #expect(size < max(room, 12_000) + 100)
        #expect(pages.count > 1)
        #expect(self.names(in: pages).flatMap { $0 } == names)
        let entry = try #require(pages.first?["requests"]?[index: 0])
        #expect(entry["url"]?.string?.utf8.count ?? 0 <= 2_048)
    }

    @Test("Whose requests are listed and reported")
    func ownership() throws {
        let entry = try stage.submit(client)
        let params = #"{"request":"\#(entry.request.id)"}"#
        let twin = FakeClient(2, name: "twin", role: .submit)
        let stranger = FakeClient(3, uid: 5, role: .submit)
        func listed(_ client: FakeClient, _ scope: String) throws -> Int {
            try stage.call(client, "request.list", #"{"scope":"\#(scope)"}"#)["requests"]?.count ?? -1
        }
        #expect(
            try [listed(client, "mine"), listed(twin, "mine"), listed(twin, "all"), listed(stranger, "all")] == [
                1, 0, 1, 0,
            ])
        #expect(try listed(FakeClient(4, uid: 5, role: .admin), "all") == 1)
        #expect(try stage.call(twin, "request.get", params)["state"]?.string == "resumed")
        for method in ["request.get", "request.wait", "request.cancel", "request.dismiss", "body.read"] {
            #expect(try stage.refusal(stranger, method, params)["name"]?.string == "request.not_found")
        }
        #expect(entry.request.state == .resumed)
    }

    // MARK: cancel and dismiss

    @Test("Cancelling sends one event, and a second time changes nothing")
    func cancel() throws {
        let entry = try stage.submit(client)
        let params = #"{"request":"\#(entry.request.id)"}"#
        #expect(try stage.call(client, "request.cancel", params)["changed"]?.bool == true)
        let again = try stage.call(client, "request.cancel", params)
        #expect(again["changed"]?.bool == false)
        #expect(again["state"]?.string == "cancelled")
        stage.endTurn()
        #expect(
            try stage.call(client, "request.get", params)["outcome"]?["error"]?["name"]?.string
                == "explicitly_cancelled")
    }

    @Test("Dismissing an unfinished request cancels it and removes it from the counts")
    func dismissUnderWay() throws {
        for _ in 0..<20 {
            let entry = try stage.submit(client, #","response_body":"file""#)
            try entry.request.receive([1])
            let params = #"{"request":"\#(entry.request.id)"}"#
            #expect(try stage.call(client, "request.dismiss", params)["state"]?.string == "dismissed")
            #expect(try stage.refusal(client, "request.dismiss", params)["name"]?.string == "request.not_found")
        }
        stage.endTurn()
        #expect(server.requests.registry.count == 0)
        #expect(server.requests.registry.active == 0)
        #expect(!server.requests.registry.hasUnreadResults)
        #expect(stage.folder.names(in: "spool").isEmpty)
    }

    // MARK: quotas

    @Test("Over the quota nothing is made; finished requests make room")
    func quota() throws {
        let stage = try Stage { $0.limits.queuedRequestsPerClient = 1 }
        let entry = try stage.submit(client)
        #expect(try stage.refusal(client, "request.submit", hanging)["name"]?.string == "queue_full")
        _ = try stage.submit(FakeClient(2, name: "other"))
        try stage.finish(entry)
        _ = try stage.submit(client)
    }

    @Test("A refused call has no effect")
    func noSideEffects() throws {
        for params in [
            #"{"url":"http://a.test/","sesion":"x"}"#, #"{"url":"http://a.test/","session":"none"}"#,
            #"{"url":"http://a.test/","headers":{"TE":"x"}}"#, #"{"url":"http://a.test/","body":{"file":"x"}}"#,
        ] {
            _ = try stage.refusal(client, "request.submit", params)
        }
        #expect(server.requests.registry.count == 0)
        #expect(server.sessions.table.all.allSatisfy { $0.session.requestCount == 0 })
    }
}
