internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession
internal import CarpoolSystem

/// Sends callback questions to clients, and ends each of them: with an answer, or with the reason for its failure, at
/// its deadline at the latest.
///
/// The connection that made the call is asked, whether or not it has declared the name. If it is closed, or the
/// question is a session's, the newest connection of the same user that has declared the name is asked. Another user's
/// connection is never asked: a client signs with its user's keys, and no other user may use them.
final class CallbackBroker {
    /// Counters of all questions so far.
    struct Statistics {
        var asked = 0
        var answered = 0
        var failed = 0
        /// Responses without an open question: too late, sent twice, or to another client's question.
        var ignored = 0
    }

    private struct Pending {
        let question: CallbackQuestion
        let timer: Timer
        let deadline: MonotonicTime
        /// Reads the answer and completes the question with it; throws if the answer is invalid.
        let accept: (JSON) throws(JSONError) -> Void
        /// Completes the question with an error.
        let fail: (SessionError) -> Void
    }

    /// Writes the records in questions.
    let record: RecordWriter
    /// Finds a connection by its number; set once the connections are there.
    var peer: (Int) -> (any CallbackPeer)? = { _ in nil }
    private let loop: EventLoop
    private let log: Log
    private let configuration: LiveConfiguration
    private var table = CallbackTable()
    private var pending: [Int: Pending] = [:]
    /// The open questions about each request.
    private var questions: [String: Set<Int>] = [:]
    private(set) var statistics = Statistics()
    /// Whether the daemon opens paths for the client whose answer is being read. It may be another client than the one
    /// that made the request.
    private(set) var answererAccess = PathAccess.otherView(.unknown)

    init(record: RecordWriter, loop: EventLoop, log: Log, configuration: LiveConfiguration) {
        self.record = record
        self.loop = loop
        self.log = log
        self.configuration = configuration
    }

    private var limits: Limits { configuration.limits }

    /// Questions that wait for an answer.
    var count: Int { table.count }

    /// Bodies up to this encoded size are sent inside a question, to every client.
    var inlineBodyBytes: Int { limits.inlineBodyBytes }

    // MARK: Who answers

    /// Sets the names that a connection answers to.
    func declare(_ names: [String], by connection: Int, uid: UInt32) {
        table.declare(names, by: connection, uid: uid)
    }

    /// The names that a connection has declared, sorted.
    func names(of connection: Int) -> [String] { table.names(of: connection) }

    /// Notes that a connection can no longer answer: it is closed, or the client has shut down its side.
    func connectionCannotAnswer(_ connection: Int) {
        let actions = table.connectionCannotAnswer(
            connection, perConnection: limits.callbacksPerConnection, isReachable: isReachable)
        for action in actions { carryOut(action) }
    }

    private func isReachable(_ connection: Int) -> Bool { peer(connection)?.canAnswer ?? false }

    // MARK: Questions

    /// Sends a question.
    /// - Parameters:
    ///   - origin: the connection that made the call, unless the question is a session's.
    ///   - client: on whose account the question is open; its user's connections may be asked.
    ///   - read: makes what is wanted of an answer that has passed its schema; throws if it is none.
    ///   - completion: called once, now or later, unless the request that it is about ends before and the question does
    ///     not outlive it.
    func ask<Value>(
        _ question: CallbackQuestion, origin: Int?, client: ClientIdentity,
        read: @escaping (JSON) throws(JSONError) -> Value,
        completion: @escaping (Result<Value, SessionError>) -> Void
    ) {
        statistics.asked += 1
        let audience = CallbackTable.Audience(origin: origin, client: client, name: question.specification.name)
        let (number, action) = table.ask(
            audience, perConnection: limits.callbacksPerConnection, limits.callbackBounds,
            isReachable: isReachable)
        let timer = Timer { [weak self] in self?.expire(number) }
        let deadline = loop.now.advanced(milliseconds: question.specification.deadlineMilliseconds)
        pending[number] = Pending(question: question, timer: timer, deadline: deadline) { (json) throws(JSONError) in
            completion(.success(try read(json)))
        } fail: {
            completion(.failure($0))
        }
        if case .send = action {
            if let request = question.request, !question.outlivesRequest {
                questions[request, default: []].insert(number)
            }
            loop.arm(timer, at: deadline)
        }
        carryOut(action)
    }

    /// Removes the questions about a request that is over.
    func requestDidFinish(_ request: String) {
        // Nearly always: most requests have no callbacks.
        guard !questions.isEmpty, let open = questions[request] else { return }
        for number in open {
            table.close(number)
            _ = take(number)
        }
    }

    /// Handles a response from a client.
    func answer(_ response: RPCResponse, from connection: Int) {
        guard let number = CallbackQuestion.number(ofID: response.id.bytes), table.answer(number, from: connection),
            let answered = take(number)
        else {
            statistics.ignored += 1
            return
        }
        switch response.outcome {
        case .error(let error): fail(answered, .error, error["message"]?.string)
        case .result(let result):
            do throws(JSONError) {
                try Catalogue.carpool.check(answer: result, to: answered.question.method.description)
                answererAccess = access(result, connection)
                try answered.accept(result)
                statistics.answered += 1
            } catch {
                fail(answered, .invalidAnswer, error.description)
            }
        }
    }

    /// Ends an open question whose answer is no response of JSON-RPC, instead of waiting for its deadline.
    func refuseAnswer(_ id: RPCID, from connection: Int, _ error: RPCError) {
        guard let number = CallbackQuestion.number(ofID: id.bytes), table.answer(number, from: connection),
            let answered = take(number)
        else { return }
        fail(answered, .invalidAnswer, error["detail"] ?? error.message)
    }

    /// The client is inspected only if its answer may name a file.
    private func access(_ answer: JSON, _ connection: Int) -> PathAccess {
        guard answer["file"] != nil || answer["path"] != nil else { return .otherView(.unknown) }
        return peer(connection)?.pathAccess ?? .otherView(.unknown)
    }

    private func expire(_ number: Int) {
        guard table.close(number), let late = take(number) else { return }
        fail(late, .timedOut, nil)
    }

    private func carryOut(_ action: CallbackTable.Action) {
        switch action {
        case .send(let number, let connection):
            // An earlier action may have removed it.
            guard let asked = pending[number] else { return }
            let milliseconds = asked.deadline.microseconds(since: loop.now) / 1_000
            peer(connection)?.send(asked.question, number: number, deadlineMilliseconds: milliseconds)
        case .fail(let number, let reason, let limit):
            guard let failed = take(number) else { return }
            fail(failed, reason, nil, limit)
        }
    }

    private func take(_ number: Int) -> Pending? {
        guard let taken = pending.removeValue(forKey: number) else { return nil }
        loop.cancel(taken.timer)
        if let request = taken.question.request {
            questions[request]?.remove(number)
            if questions[request]?.isEmpty == true { questions[request] = nil }
        }
        return taken
    }

    private func fail(
        _ failed: Pending, _ reason: CallbackFailure, _ message: String?, _ limit: CallbackTable.ReachedLimit? = nil
    ) {
        statistics.failed += 1
        let error = SessionError.callbackFailed(
            failed.question.specification.name, reason, message: message, limit: limit)
        log.write(
            .debug, "callback failed",
            [
                ("method", failed.question.method.description), ("request", failed.question.request ?? "-"),
                ("error", error.message),
            ])
        failed.fail(error)
    }
}
