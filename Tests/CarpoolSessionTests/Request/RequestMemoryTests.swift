import CarpoolHTTP
@testable import CarpoolSession
import Testing

/// The memory of requests after their call: counted, bounded and released.
struct RequestMemoryTests {
    /// An account with a bound for each request.
    private final class Account: RequestMemory {
        var counted: [Int] = []
        var limit = Int.max

        func count(_ bytes: Int, forRequest id: String) throws(SessionError) {
            guard bytes <= limit else { throw SessionError("queue_full", "no room") }
            counted.append(bytes)
        }
    }

    /// An adapter that makes a new body for each attempt, and a retrier that retries each failure.
    private final class Giver: RequestInterceptor {
        let name = "giver"
        var bodyBytes: Int
        let answer: RetryResult

        init(bodyBytes: Int = 0, answer: RetryResult = .doNotRetry) {
            self.bodyBytes = bodyBytes
            self.answer = answer
        }

        func adapt(
            _ urlRequest: TransportRequest, for request: Request,
            completion: @escaping (Result<TransportRequest, SessionError>) -> Void
        ) {
            var adapted = urlRequest
            if bodyBytes > 0 { adapted.body = .bytes(Array(repeating: 7, count: bodyBytes)) }
            completion(.success(adapted))
        }

        func retry(_ request: Request, dueTo error: SessionError, completion: @escaping (RetryResult) -> Void) {
            completion(answer)
        }
    }

    private let account = Account()

    private func stage(_ interceptor: Giver) throws -> Stage {
        var configuration = SessionConfiguration()
        configuration.interceptor = Interceptor(interceptors: [interceptor])
        configuration.validators = [StatusValidator.successful]
        let stage = try Stage(configuration)
        stage.session.memory = account
        return stage
    }

    private func bodyBytes(_ request: TransportRequest?) -> Int {
        if case .bytes(let bytes) = request?.body { bytes.count } else { 0 }
    }

    @Test("B5: a body that an adapter makes is counted")
    func adapted() throws {
        let stage = try stage(Giver(bodyBytes: 100_000))
        let request = stage.send { $0.method = .post }
        #expect(bodyBytes(request.urlRequest) == 100_000)
        #expect(account.counted.count == 1)
        #expect((100_000..<102_000).contains(account.counted.last ?? 0))
    }

    @Test("B5: a body for which there is no room fails the adaptation, and is not kept")
    func refused() throws {
        account.limit = 50_000
        let stage = try stage(Giver(bodyBytes: 100_000))
        let request = stage.send { $0.method = .post }
        #expect(request.error?.name == "request_adaptation_failed")
        #expect(request.error?.cause("underlying")?.name == "queue_full")
        #expect(bodyBytes(request.urlRequest) == 0)
        #expect(stage.transport.requests.isEmpty)
    }

    @Test("B5: a usual request is not counted")
    func usual() throws {
        let stage = try stage(Giver(bodyBytes: 100))
        let request = stage.send { $0.method = .post }
        stage.transport.respond(200, [("Content-Type", "text/plain")])
        #expect(request.isFinished && request.error == nil)
        #expect(account.counted.isEmpty)
    }

    @Test("B5: one attempt at a time keeps the body that it has sent")
    func bodiesOfAttempts() throws {
        let stage = try stage(Giver(bodyBytes: 100_000, answer: .retryWithDelay(milliseconds: 1)))
        let request = stage.send { $0.method = .post }
        for _ in 0..<20 {
            stage.transport.respond(503)
            stage.scheduler.advance(milliseconds: 1)
        }
        #expect(request.attempts.count == 21)
        #expect(request.attempts.reduce(0) { $0 + bodyBytes($1.request) + bodyBytes($1.unadapted) } == 100_000)
        #expect(bodyBytes(stage.transport.requests.last) == 100_000)
        #expect((account.counted.max() ?? 0) < 140_000)
    }

    @Test("B5: a request that waits for a retry is counted; without room its fields are dropped first")
    func waiting() throws {
        account.limit = 60_000
        let stage = try stage(Giver(answer: .retryWithDelay(milliseconds: 1)))
        let request = stage.send()
        let head = [("X-Long", String(repeating: "v", count: 25_000))]
        for _ in 0..<4 {
            stage.transport.respond(503, head)
            stage.scheduler.advance(milliseconds: 1)
        }
        #expect(request.attempts.count == 5)
        #expect(account.counted.contains { $0 > 50_000 })
        #expect((account.counted.last ?? .max) < 40_000, "the fields of the last attempt alone")
    }

    @Test("B5: a request that takes too much memory is not retried")
    func tooMuch() throws {
        account.limit = 10_000
        let stage = try stage(Giver(answer: .retryWithDelay(milliseconds: 1)))
        let request = stage.send("http://a.test/\(String(repeating: "p", count: 20_000))")
        stage.transport.respond(503)
        stage.scheduler.advance(milliseconds: 1)
        #expect(request.isFinished)
        #expect(request.error?.name == "request_retry_failed")
        #expect(request.error?.cause("retry_error")?.name == "queue_full")
        #expect(stage.transport.requests.count == 1)
    }
}
