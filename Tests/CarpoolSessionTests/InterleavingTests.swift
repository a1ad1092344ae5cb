import CarpoolHTTP
@testable import CarpoolSession
import Testing

/// Everything that can happen to a request, in any order (RL-02 to RL-18, TM-01, TM-06): it ends once, and nothing is
/// left of it.
struct InterleavingTests {
    private static let seeds = 8
    private static let rounds = 2_500

    @Test("A request ends once, whatever happens to it and in whichever order", arguments: 0..<seeds)
    func interleavings(_ seed: Int) throws {
        let stage = try Stage()
        for round in 0..<Self.rounds {
            let play = Play(stage, SeededGenerator(seed: UInt64(seed * Self.rounds + round)))
            play.run()
            guard play.mistakes.isEmpty else {
                Issue.record("seed \(seed), round \(round): \(play.mistakes)\n\(play.script)\n\(stage.monitor.events)")
                return
            }
            _ = stage.monitor.take()
        }
    }
}

/// One request on a stage that many have used before, and the dice that say what happens to it.
private final class Play {
    private let stage: Stage
    private var dice: SeededGenerator
    private let interceptor = ScriptedInterceptor()
    private let validators = [ScriptedValidator("status"), ScriptedValidator("callback")]
    private let serializers = [ScriptedSerializer("first"), ScriptedSerializer("second")]
    private let decider = OpenDecider()
    private let request: Request
    private let earlierTransfers: Int
    private var ends = 0
    private var heads = 0
    private var isHeaded: ScriptedTask?
    private(set) var script: [String] = []

    private static let maximumSteps = 30
    /// Each step that ends something is offered again and again; a request that is not over after so many never will
    /// be.
    private static let maximumStepsToEnd = 200

    init(_ stage: Stage, _ dice: SeededGenerator) {
        self.stage = stage
        self.dice = dice
        earlierTransfers = stage.transport.transfers.count
        var parameters = RequestParameters(url: "http://a.test/")
        parameters.setup = self.dice.next() % 4 == 0 ? .eager : .lazy
        parameters.holdsForHeaders = self.dice.next() % 4 == 0
        if self.dice.next() % 2 == 0 { parameters.redirect = RedirectHandler(.ask(decider)) }
        if self.dice.next() % 4 != 0 { parameters.interceptor = Interceptor(interceptors: [interceptor]) }
        parameters.validators = Array(validators.prefix(Int(self.dice.next() % 3)))
        parameters.serializers = Array(serializers.prefix(Int(self.dice.next() % 3)))
        request = stage.request(parameters)
        for _ in 0..<3 {
            interceptor.adaptations.append(self.dice.next() % 2 == 0 ? nil : .failure(.scripted))
            interceptor.decisions.append(self.dice.next() % 3 == 0 ? .retry : nil)
        }
        for validator in validators { validator.isOpen = self.dice.next() % 2 == 0 }
        for serializer in serializers { serializer.isOpen = self.dice.next() % 2 == 0 }
        request.whenFinished { [unowned self] _ in ends += 1 }
        request.whenHeadReceived { [unowned self] _ in heads += 1 }
        stage.monitor.onEvent = { [unowned self] _, told in
            // A monitor may do what its holder may, in the middle of everything.
            if told === request, self.dice.next() % 40 == 0 { act(Step.holders) }
        }
    }

    func run() {
        request.setUp()
        for _ in 0..<Self.maximumSteps where !request.isFinished { act(Step.allCases) }
        for _ in 0..<Self.maximumStepsToEnd where !isOver {
            request.resume()
            act(Step.finishers)
            stage.scheduler.advance(milliseconds: 1_000)
        }
        let told = stage.monitor.events.count
        for _ in 0..<5 { act(Step.allCases) }
        late = stage.monitor.events.dropFirst(told).filter { !$0.hasPrefix("task.") && !$0.hasPrefix("data.") }
        stage.monitor.onEvent = { _, _ in }
    }

    private var late: [String] = []

    private var isOver: Bool { request.isFinished && stage.transport.running == 0 }

    // MARK: What can happen

    /// What can happen, each as often as it stands here.
    private enum Step: CaseIterable {
        case resume, resumeAgain, goOn, suspend, cancel, lose
        case adapt, adaptBadly, validate, refuse, serialize, serializeBadly, stay, redirect, redirectBadly
        case doNotRetry, retry, delay, refuseToRetry
        case head, success, failure, redirection, body, moreBody, complete, fail, time

        /// What a holder does; what ends whatever waits.
        static let holders: [Step] = [.resume, .suspend, .cancel]
        static let finishers: [Step] = [.adapt, .validate, .complete, .doNotRetry, .serialize, .stay]
    }

    private func take(_ step: Step) {
        switch step {
        case .resume, .resumeAgain, .goOn: request.resume()
        case .suspend: request.suspend()
        case .cancel: request.cancel()
        case .lose: if dice.next() % 4 == 0 { request.lose(to: .sessionInvalidated) }
        case .time: stage.scheduler.advance(milliseconds: 60)
        case .head, .success, .failure, .redirection, .body, .moreBody, .complete, .fail: takeFromNetwork(step)
        default: answer(step)
        }
    }

    private func answer(_ step: Step) {
        switch step {
        case .adapt: adapt(isGood: true)
        case .adaptBadly: adapt(isGood: false)
        case .validate: validate(nil)
        case .refuse: validate(.scripted)
        case .serialize: serialize(.success(.string("x")))
        case .serializeBadly: serialize(.failure(.scripted))
        case .stay: redirect(.success(nil))
        case .redirect: redirect(.success(request.urlRequest))
        case .redirectBadly: redirect(.failure(.scripted))
        case .doNotRetry: decide(.doNotRetry)
        case .retry: decide(.retry)
        case .delay: decide(.retryWithDelay(milliseconds: 100))
        case .refuseToRetry: decide(.doNotRetryWithError(.scripted))
        default: break
        }
    }

    private func takeFromNetwork(_ step: Step) {
        switch step {
        case .head, .success: receive(200)
        case .failure: receive(500)
        case .redirection: receive(302)
        case .body, .moreBody: receiveBody()
        case .complete: complete(nil)
        default: complete(TransportError(.networkConnectionLost, "gone"))
        }
    }

    private func act(_ steps: [Step]) {
        let step = steps[Int(dice.next() % UInt64(steps.count))]
        script.append("\(step)")
        take(step)
    }

    /// Any of the questions that were ever asked: answers to those that are over must change nothing.
    private func any<Answer>(of open: [Answer]) -> Answer? {
        open.isEmpty ? nil : dice.next() % 3 == 0 ? open[Int(dice.next() % UInt64(open.count))] : open.last
    }

    private func adapt(isGood: Bool) {
        guard let answer = any(of: interceptor.openAdaptations), let made = request.urlRequest else { return }
        answer(isGood ? .success(made) : .failure(.scripted))
    }

    private func decide(_ result: RetryResult) { any(of: interceptor.openDecisions)?(result) }
    private func validate(_ error: SessionError?) { any(of: validators.flatMap(\.open))?(error) }
    private func redirect(_ result: Result<TransportRequest?, SessionError>) { any(of: decider.open)?(result) }
    private func serialize(_ result: Result<SerializedValue, SessionError>) {
        for serializer in serializers { any(of: serializer.open)?(result) }
    }

    // MARK: The network, which keeps to its rules: one head, then the body, then one end

    private var transfer: ScriptedTask? { stage.transport.running > 0 ? stage.transport.transfers.last : nil }

    private var isCancelled: Bool { transfer.map { stage.transport.cancelled.contains($0.id) } ?? false }

    private func receive(_ status: Int) {
        guard let transfer, isHeaded !== transfer, !isCancelled else { return }
        isHeaded = transfer
        stage.transport.receive(status, status == 302 ? [("Location", "/to")] : [])
    }

    private func receiveBody() {
        guard let transfer, isHeaded === transfer, !isCancelled else { return }
        if stage.transport.receive([1, 2, 3]) == .stop {
            complete(TransportError(.cancelled, "the receiver wants no more"))
        }
    }

    private func complete(_ error: TransportError?) {
        guard let transfer else { return }
        if isCancelled { return stage.transport.completeCancelled() }
        // Without a head there is no response to end.
        if isHeaded !== transfer, error == nil { receive(200) }
        guard !isCancelled else { return stage.transport.completeCancelled() }
        stage.transport.complete(error)
    }

    // MARK: What must be true in the end

    var mistakes: [String] { (endMistakes + leftovers).filter { !$0.isRight }.map(\.told) }

    private typealias Check = (isRight: Bool, told: String)

    private var endMistakes: [Check] {
        let events = stage.monitor.events
        let isCancelled = events.contains("requestDidCancel")
        let lastFinish = events.lastIndex(of: "requestDidFinish") ?? events.startIndex
        let allowed: Set<String> = ["requestDidCancel", "requestDidSuspend", "requestDidResume"]
        let after = events[lastFinish...].dropFirst().filter { !$0.hasPrefix("didParse") && !allowed.contains($0) }
        return [
            (ends == 1, "\(ends) ends"), (heads == 1, "\(heads) heads"), (request.isFinished, "not finished"),
            (events.contains("requestDidFinish"), "no finish"), (after.isEmpty, "after the finish: \(after)"),
            (late.isEmpty, "after the end: \(late)"),
            ((request.state == .cancelled) == isCancelled, "\(request.state)"),
            (!isCancelled || request.error != nil, "cancelled without an error"),
            (request.results.count == request.parameters.serializers.count, "\(request.results.count) results"),
        ]
    }

    private var leftovers: [Check] {
        let transfers = stage.transport.transfers.count - earlierTransfers
        let hops = request.attempts.reduce(0) { $0 + $1.hops.count }
        return [
            (stage.session.activeCount == 0, "active"), (stage.session.taskCount == 0, "tasks (TM-06)"),
            (stage.scheduler.count == 0, "timers"), (stage.transport.running == 0, "transfers"),
            (request.transfer == nil && request.deferredCompletion == nil, "something is held"),
            (transfers == hops, "\(transfers) transfers, \(hops) hops"),
        ]
    }
}
