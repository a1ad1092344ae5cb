import CarpoolSystem
import Glibc
import Synchronization
import Testing

@testable import CarpoolHTTP

/// A caller that decides about servers, and counts the questions.
private final class Judge: Sendable {
    private let state = Mutex<[CustomTrust.Question]>([])
    let asked = Counter()

    var questions: [CustomTrust.Question] { state.withLock { $0 } }

    /// An evaluator whose questions are answered by `answer` with the number of the question.
    func trust(_ identity: String, _ answer: @escaping @Sendable (Int) -> CustomTrust.TrustAnswer?) -> ServerTrust {
        ServerTrust(
            evaluator: .custom(
                CustomTrust(identity: identity) { [self] question, completion in
                    let number = state.withLock {
                        $0.append(question)
                        return $0.count
                    }
                    asked.add()
                    if let answer = answer(number) { completion(answer) }
                }))
    }
}

@Suite(.timeLimit(.minutes(2)))
struct CustomTrustTests {
    private let files: ServerCertificates

    init() throws { files = try ServerCertificates.shared.get() }

    @Test(
        "A caller sees the chain and decides; the answer holds for the connection", arguments: ["-tls1_2", "-tls1_3"])
    func decisions(_ version: String) async throws {
        let server = try TLSServer(["leaf", "middle"], version)
        defer { server.end() }
        let driver = try await Driver()
        let judge = Judge()
        var ask = Ask(server.url)
        ask.trust = judge.trust("yes") { _ in .accept }
        #expect(try await driver.fetch(ask).status == 200)
        #expect(judge.questions.count == 1)
        #expect(judge.questions.first?.chain == (try files.certificates(["leaf", "middle"]).map(\.der)))
        #expect(judge.questions.first?.host == "localhost")
        #expect(judge.questions.first?.port == server.port)
        // The server has closed the connection: a new one is another question.
        #expect(try await driver.fetch(ask).status == 200)
        #expect(judge.questions.count == 2)
        ask.trust = judge.trust("no") { _ in .refuse("not this one") }
        let failure = try await driver.fetch(ask).error
        #expect(failure?.code == .serverTrustEvaluationFailed)
        #expect(failure?.trust?.reason == .customEvaluationFailed)
        #expect(failure?.trust?.evaluator == "callback")
        #expect(failure?.trust?.output == "not this one")
        #expect(failure?.trust?.presentedCertificates.count == 2)
        await driver.end()
    }

    @Test("Requests that meet the same chain ask once, and share the connection")
    func shared() async throws {
        let nginx = try Nginx.shared.get()
        let driver = try await Driver()
        let judge = Judge()
        var ask = Ask(nginx.https + "/where")
        ask.trust = judge.trust("shared") { _ in .accept }
        let outcomes = try await driver.fetchAll(Array(repeating: ask, count: 8))
        #expect(outcomes.allSatisfy { $0.status == 200 })
        #expect(judge.questions.count <= 8)
        #expect(try await driver.fetch(ask).metrics.isReused)
        // Those that come while the caller decides wait with the first.
        let (late, asked) = (LateAnswer(driver.loop), Counter())
        ask.trust = ServerTrust(
            evaluator: .custom(
                CustomTrust(identity: "late") { _, completion in
                    asked.add()
                    late.answer(completion)
                }))
        let waiting = try await driver.fetchAll(Array(repeating: ask, count: 4))
        #expect(waiting.allSatisfy { $0.status == 200 })
        #expect(asked.value <= 2)
        await driver.end()
    }

    @Test("A transfer waits for the answer without turns of the loop, and can be cancelled or run out of time")
    func waiting() async throws {
        let server = try TLSServer()
        defer { server.end() }
        let driver = try await Driver()
        let judge = Judge()
        var ask = Ask(server.url)
        ask.trust = judge.trust("silent") { _ in nil }
        ask.connect = 200
        ask.resource = 1_000
        async let outcome = driver.fetch(ask)
        while judge.questions.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        let before = await driver.turns
        let error = try await outcome.error
        // To close the connection, for this test's own looks, and for the end.
        #expect(await driver.turns - before <= 20)
        #expect(error?.code == .timedOut)
        #expect(error?.timeout == "resource")
        #expect(judge.questions.count == 1)
        await driver.end()
    }

    @Test("A transfer can be cancelled while the caller decides, and the answer then has no effect")
    func cancellation() async throws {
        let server = try TLSServer()
        defer { server.end() }
        let driver = try await Driver()
        let held = HeldAnswer()
        var ask = Ask(server.url)
        ask.trust = ServerTrust(
            evaluator: .custom(CustomTrust(identity: "held") { _, completion in held.completion = completion }))
        async let outcome = driver.fetch(ask)
        while await driver.look({ $0.questions.isEmpty }) == true { try await Task.sleep(for: .milliseconds(5)) }
        await driver.look { $0.questions.values.first?.transfers.values.first?.cancel() }
        #expect(try await outcome.error?.code == .cancelled)
        #expect(await driver.look { $0.questions.isEmpty } == true)
        await driver.look { _ in held.give() }
        #expect(try await outcome.completions == 1)
        #expect(await driver.openConnections == 0)
        await driver.end()
    }

    @Test("An answer that comes later than the timeout of the connection is in time")
    func lateAnswer() async throws {
        let server = try TLSServer()
        defer { server.end() }
        let driver = try await Driver()
        let loop = driver.loop
        let late = LateAnswer(loop)
        var ask = Ask(server.url)
        ask.trust = ServerTrust(
            evaluator: .composite([
                .standard(validatesHost: false),
                .custom(CustomTrust(identity: "late") { _, completion in late.answer(completion) }),
            ]))
        ask.trust.authorities = .only(
            TrustedAuthorities(try TrustStore(pem: try files.bytes("root.pem")), path: "root.pem"))
        ask.connect = 300
        let outcome = try await driver.fetch(ask)
        #expect(outcome.error == nil)
        #expect(outcome.status == 200)
        #expect(outcome.completions == 1)
        await driver.end()
    }

    @Test("A chain that differs from the one that was accepted is another question, at most three")
    func changingChains() async throws {
        // Behind one port, each connection has the next of two servers.
        let servers = [try TLSServer(["leaf", "middle"]), try TLSServer(["other", "middle"])]
        defer { for server in servers { server.end() } }
        let relay = try AlternatingRelay(servers.map(\.port))
        defer { relay.end() }
        let driver = try await Driver()
        let judge = Judge()
        var ask = Ask("https://localhost:\(relay.port)/")
        ask.trust = judge.trust("careful") { _ in .accept }
        let outcome = try await driver.fetch(ask)
        // The third connection has a chain that was accepted before.
        #expect(outcome.status == 200)
        #expect(judge.questions.count == 2)
        ask.trust = judge.trust("strict") { $0 == 4 ? .refuse("changed") : .accept }
        #expect(try await driver.fetch(ask).error?.trust?.output == "changed")
        await driver.end()
    }
}

extension CustomTrustTests {
    @Test("A server that asks for a client certificate is evaluated as others are", arguments: ["-tls1_2", "-tls1_3"])
    func clientCertificates(_ version: String) async throws {
        let driver = try await Driver()
        for (option, isAccepted) in [("-verify 1", true), ("-Verify 1", false)] {
            let server = try TLSServer(["leaf", "middle"], "\(version) \(option)")
            defer { server.end() }
            let judge = Judge()
            var ask = Ask(server.url)
            ask.trust = judge.trust("either") { _ in .accept }
            let outcome = try await driver.fetch(ask)
            #expect(
                outcome.error?.code
                    == (isAccepted ? nil : TransportError.Code(rawValue: "client_certificate.required")), "\(option)")
            #expect(judge.questions.count == 1)
            ask.trust = judge.trust("neither") { _ in .refuse("no") }
            #expect(try await driver.fetch(ask).error?.code == .serverTrustEvaluationFailed, "\(option)")
        }
        await driver.end()
    }

    @Test("A server with another chain for each connection is refused after three questions")
    func manyChains() async throws {
        let names = [["leaf", "middle"], ["other", "middle"], ["common", "middle"], ["alone"]]
        let servers = try names.map { try TLSServer($0) }
        defer { for server in servers { server.end() } }
        let relay = try AlternatingRelay(servers.map(\.port))
        defer { relay.end() }
        let driver = try await Driver()
        let judge = Judge()
        var ask = Ask("https://localhost:\(relay.port)/")
        ask.trust = judge.trust("patient") { _ in .accept }
        let failure = try await driver.fetch(ask).error?.trust
        #expect(failure?.reason == .customEvaluationFailed)
        #expect(failure?.output == "the server sends another chain with each connection")
        #expect(judge.questions.count == 3)
        await driver.end()
    }
}

/// Answers 600 ms later, twice.
private final class LateAnswer: @unchecked Sendable {
    private let loop: EventLoop
    private var timer: Timer?

    init(_ loop: EventLoop) { self.loop = loop }

    /// Called on the loop.
    func answer(_ completion: @escaping (CustomTrust.TrustAnswer) -> Void) {
        let timer = Timer {
            completion(.accept)
            completion(.refuse("a second answer"))
        }
        self.timer = timer
        loop.arm(timer, afterMilliseconds: 600)
    }
}

/// An answer that the test sends by a call of `give()`. `@unchecked Sendable` because only the loop uses it.
private final class HeldAnswer: @unchecked Sendable {
    var completion: ((CustomTrust.TrustAnswer) -> Void)?

    func give() {
        completion?(.accept)
        completion?(.refuse("a second answer"))
    }
}

/// A port whose connections go to the next of some other ports in turn.
private final class AlternatingRelay: Sendable {
    let port: UInt16
    private let listener: Int32

    init(_ ports: [UInt16]) throws {
        let (listener, port) = try LoopbackSocket.listen()
        self.listener = listener
        self.port = port
        startThread {
            var index = 0
            while case let client = accept(listener, nil, nil), client >= 0 {
                let target = ports[index % ports.count]
                index += 1
                startThread { AlternatingRelay.relay(client, target) }
            }
            close(listener)
        }
    }

    func end() { shutdown(listener, Int32(SHUT_RDWR)) }

    private static func relay(_ client: Int32, _ port: UInt16) {
        let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let isConnected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        if isConnected {
            let ended = Counter()
            startThread {
                copy(from: client, to: server)
                ended.add()
            }
            copy(from: server, to: client)
            shutdown(client, Int32(SHUT_RDWR))
            ended.wait(for: 1)
        }
        close(client)
        close(server)
    }

    private static func copy(from input: Int32, to output: Int32) {
        var bytes = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = recv(input, &bytes, bytes.count, 0)
            guard count > 0, send(output, bytes, count, Int32(MSG_NOSIGNAL)) == count else { break }
        }
        shutdown(output, Int32(SHUT_WR))
    }
}
