import CarpoolHTTP
@testable import CarpoolSession
import Testing

struct InterceptorTests {
    private typealias Adaptation = Result<TransportRequest, SessionError>

    private let stage: Stage
    private let request: Request
    private let urlRequest: TransportRequest
    private static let failure = SessionError("test.failure", "no")

    init() throws {
        stage = try Stage()
        request = stage.request(RequestParameters(url: "http://a.test/"))
        urlRequest = TransportRequest(method: .get, url: try HTTPURL("http://a.test/"))
    }

    private func appending(_ value: String) throws -> SetHeaderAdapter {
        SetHeaderAdapter(try HTTPField(name: "X", value: value), mode: .append)
    }

    private func values(_ result: Adaptation?) throws -> [String] {
        try #require(result).get().fields.map(\.value)
    }

    @Test("RI-03: an interceptor with the default methods changes nothing and retries nothing")
    func defaults() throws {
        final class Silent: RequestInterceptor {}
        var adapted: Adaptation?
        var decision: RetryResult?
        Silent().adapt(urlRequest, for: request) { adapted = $0 }
        Silent().retry(request, dueTo: Self.failure) { decision = $0 }
        #expect(try values(adapted) == [])
        guard case .doNotRetry = decision else { return #expect(Bool(false)) }
    }

    @Test("RI-04: adapters, then interceptors, each with the result of the previous one")
    func order() throws {
        let chain = Interceptor(
            adapters: [try appending("1"), try appending("2")],
            interceptors: [try appending("3"), Interceptor(adapters: [try appending("4")]), try appending("5")])
        var adapted: Adaptation?
        chain.adapt(urlRequest, for: request) { adapted = $0 }
        #expect(try values(adapted) == ["1", "2", "3", "4", "5"])
    }

    @Test("RI-04: those that change a request at once and those that answer later keep their order")
    func mixed() throws {
        var answers: [() -> Void] = []
        let late = Adapter { request, _, completion in answers.append { completion(.success(request)) } }
        let chain = Interceptor(adapters: [try appending("1"), late, try appending("2")])
        #expect(!chain.adaptsSynchronously)
        var adapted: Adaptation?
        chain.adapt(urlRequest, for: request) { adapted = $0 }
        #expect(answers.count == 1)
        while let answer = answers.popLast() { answer() }
        #expect(try values(adapted) == ["1", "2"])
    }

    @Test("RI-04: the first failure ends the chain, now or later", arguments: [false, true])
    func failure(isLate: Bool) throws {
        var answers: [() -> Void] = []
        let failing = Adapter { _, _, completion in
            if isLate {
                answers.append { completion(.failure(Self.failure)) }
            } else {
                completion(.failure(Self.failure))
            }
        }
        var isCalled = false
        let never = Adapter { request, _, completion in
            isCalled = true
            completion(.success(request))
        }
        var results: [Adaptation] = []
        Interceptor(adapters: [failing, never]).adapt(urlRequest, for: request) { results.append($0) }
        #expect(results.isEmpty == isLate)
        for answer in answers { answer() }
        #expect(results.count == 1)
        #expect(throws: SessionError.self) { try results[0].get() }
        #expect(!isCalled)
    }

    @Test("RI-01: the first answer counts; a second one, or none, has no effect")
    func answers() throws {
        var later: ((Adaptation) -> Void)?
        let twice = Adapter { request, _, completion in
            completion(.success(request))
            completion(.failure(Self.failure))
            later = completion
        }
        var results: [Adaptation] = []
        Interceptor(adapters: [twice, try appending("1")]).adapt(urlRequest, for: request) { results.append($0) }
        later?(.failure(Self.failure))
        #expect(try results.map { try values($0) } == [["1"]])

        results = []
        var pending: [(Adaptation) -> Void] = []
        let slow = Adapter { _, _, completion in pending.append(completion) }
        weak var observed: Interceptor?
        do {
            let chain = Interceptor(adapters: [slow, try appending("1"), slow])
            observed = chain
            chain.adapt(urlRequest, for: request) { results.append($0) }
        }
        #expect(observed != nil)
        pending[0](.success(urlRequest))
        pending[0](.success(urlRequest))
        #expect(pending.count == 2)
        pending[1](.success(urlRequest))
        #expect(results.count == 1)
        pending = []
        #expect(observed == nil)
    }

    @Test("A chain of immediate answers of any length needs no more stack than one")
    func long() throws {
        let one = Adapter { request, _, completion in completion(.success(request)) }
        let other = Retrier { _, _, completion in completion(.doNotRetry) }
        let chain = Interceptor(
            adapters: Array(repeating: one, count: 100_000), retriers: Array(repeating: other, count: 100_000))
        var count = 0
        chain.adapt(urlRequest, for: request) { _ in count += 1 }
        chain.retry(request, dueTo: Self.failure) { _ in count += 1 }
        #expect(count == 2)
    }

    @Test(
        "RI-05, RL-11: retriers are called until one decides",
        arguments: [
            (["pass", "pass"], "pass,pass", "doNotRetry"), (["pass", "retry", "pass"], "pass,retry", "retry"),
            (["delay", "retry"], "delay", "delay(7)"), (["error", "retry"], "error", "error(test.failure)"),
            (["late pass", "late delay", "retry"], "late pass,late delay", "delay(7)"), ([], "", "doNotRetry"),
        ])
    func retriers(_ names: [String], _ asked: String, _ decision: String) {
        var calls: [String] = []
        var pending: [() -> Void] = []
        let retriers = names.map { name in
            Retrier { _, _, completion in
                calls.append(name)
                let answer = { completion(Self.decision(named: name)) }
                if name.hasPrefix("late") { pending.append(answer) } else { answer() }
            }
        }
        var results: [String] = []
        Interceptor(retriers: retriers).retry(request, dueTo: Self.failure) { results.append(Self.describe($0)) }
        while !pending.isEmpty { pending.removeFirst()() }
        #expect(calls.joined(separator: ",") == asked)
        #expect(results == [decision])
    }

    private static func decision(named name: String) -> RetryResult {
        if name.hasSuffix("retry") { return .retry }
        if name.hasSuffix("delay") { return .retryWithDelay(milliseconds: 7) }
        return name.hasSuffix("error") ? .doNotRetryWithError(failure) : .doNotRetry
    }

    static func describe(_ result: RetryResult) -> String {
        switch result {
        case .retry, .retryWithNewCredential: "retry"
        case .retryWithDelay(let milliseconds): "delay(\(milliseconds))"
        case .doNotRetry: "doNotRetry"
        case .doNotRetryWithError(let error): "error(\(error.name))"
        }
    }

    @Test("An interceptor reports which of its elements, at any depth, has the credential, and what its policies need")
    func contents() {
        let authentication = AuthenticationInterceptor(
            authenticator: OAuth2Authenticator(refresher: ScriptedRefresher()), scheduler: ManualScheduler())
        var policy = RetryPolicy()
        policy.statuses = [500, 502]
        policy.retriesWithoutValidation = true
        let inner = Interceptor(interceptors: [PolicyRetrier(policy), authentication])
        let outer = Interceptor(interceptors: [PolicyRetrier(RetryPolicy()), inner])
        #expect(outer.authentication === authentication)
        #expect(outer.statusesWithoutValidation == [500, 502])
        #expect(Interceptor(interceptors: [PolicyRetrier(RetryPolicy())]).statusesWithoutValidation == [])
    }
}
