/// The questions that no client has answered yet, and the clients that answer: who is asked what, who else may be when
/// that one goes, and whose answer counts. It decides; the broker carries out.
///
/// Each question ends exactly once: it is answered, dropped or expires, or an action fails it.
struct CallbackTable {
    /// Who may be asked.
    struct Audience {
        /// The connection of the call that asks, if a call does. It need not have declared the name.
        var origin: Int?
        /// The client that the question counts for. Only its user's connections are asked.
        var client: ClientIdentity
        /// The callback's name.
        var name: String
    }

    /// The limit that was reached.
    struct ReachedLimit: Equatable {
        let name: String
        let value: Int
        /// Whose limit it is; nil for a connection's.
        var holder: Quota.Holder?
    }

    /// What the broker does next.
    enum Action: Equatable {
        /// Send the question to a connection.
        case send(Int, to: Int)
        /// The question has failed and is over.
        case fail(Int, CallbackFailure, ReachedLimit? = nil)
    }

    private struct Declaration: Hashable {
        let uid: UInt32
        let name: String
    }

    private struct Question {
        let audience: Audience
        var connection: Int
        /// Whether the first client disconnected while it was asked. The question is moved at most once.
        var hasMoved = false
    }

    private var questions: [Int: Question] = [:]
    /// How many questions each client and user has open.
    private var quota = Quota()
    private var lastQuestion = 0
    /// The questions of each connection.
    private var asked: [Int: Set<Int>] = [:]
    /// The names that each connection has declared, and the connections of each name, the newest last.
    private var declared: [Int: Set<Declaration>] = [:]
    private var listeners: [Declaration: [Int]] = [:]

    /// How many questions wait for an answer.
    var count: Int { questions.count }

    /// How many of them a connection is asked.
    func count(of connection: Int) -> Int { asked[connection]?.count ?? 0 }

    /// The names that a connection has declared, sorted.
    func names(of connection: Int) -> [String] { (declared[connection] ?? []).map(\.name).sorted() }

    // MARK: Who answers

    /// Sets the names that a connection answers to.
    mutating func declare(_ names: some Sequence<String>, by connection: Int, uid: UInt32) {
        withdraw(connection)
        let declarations = Set(names.map { Declaration(uid: uid, name: $0) })
        guard !declarations.isEmpty else { return }
        declared[connection] = declarations
        for declaration in declarations {
            // In the order of the connections' numbers, so that repeating a declaration changes nothing.
            var numbers = listeners[declaration] ?? []
            let place = numbers.lastIndex { $0 < connection }.map { $0 + 1 } ?? 0
            numbers.insert(connection, at: place)
            listeners[declaration] = numbers
        }
    }

    private mutating func withdraw(_ connection: Int) {
        for declaration in declared.removeValue(forKey: connection) ?? [] {
            listeners[declaration]?.removeAll { $0 == connection }
            if listeners[declaration]?.isEmpty == true { listeners[declaration] = nil }
        }
    }

    // MARK: Questions

    /// Opens a question: to its origin if that can be reached, else to the newest connection of the same user that has
    /// declared the name.
    mutating func ask(
        _ audience: Audience, perConnection: Int, _ bounds: Quota.Bounds, isReachable: (Int) -> Bool
    ) -> (question: Int, action: Action) {
        lastQuestion += 1
        let number = lastQuestion
        if let refusal = quota.refusal(of: 1, for: audience.client, bounds) {
            let limit = ReachedLimit(name: refusal.limit, value: refusal.value, holder: refusal.holder)
            return (number, .fail(number, .tooMany, limit))
        }
        switch choose(audience, perConnection, isReachable) {
        case .success(let connection):
            questions[number] = Question(audience: audience, connection: connection)
            quota.take(1, for: audience.client)
            asked[connection, default: []].insert(number)
            return (number, .send(number, to: connection))
        case .failure(let reason):
            let limit = ReachedLimit(name: "callbacks_per_connection", value: perConnection)
            return (number, .fail(number, reason, reason == .tooMany ? limit : nil))
        }
    }

    private enum Choice {
        case success(Int)
        case failure(CallbackFailure)
    }

    private func choose(_ audience: Audience, _ perConnection: Int, _ isReachable: (Int) -> Bool) -> Choice {
        var isAnyoneThere = false
        func hasRoom(_ connection: Int) -> Bool {
            guard isReachable(connection) else { return false }
            isAnyoneThere = true
            return count(of: connection) < perConnection
        }
        if let origin = audience.origin, hasRoom(origin) { return .success(origin) }
        let others = listeners[Declaration(uid: audience.client.uid, name: audience.name)] ?? []
        if let other = others.last(where: hasRoom) { return .success(other) }
        return .failure(isAnyoneThere ? .tooMany : .noResponder)
    }

    /// Closes a question that a connection has answered. Returns false if the connection was not asked, or the question
    /// is closed already.
    mutating func answer(_ question: Int, from connection: Int) -> Bool {
        guard questions[question]?.connection == connection else { return false }
        return close(question)
    }

    /// Closes a question whose answer is no longer needed, or whose deadline has passed. Returns false if it was not
    /// open.
    @discardableResult mutating func close(_ question: Int) -> Bool {
        guard let closed = end(question) else { return false }
        asked[closed.connection]?.remove(question)
        if asked[closed.connection]?.isEmpty == true { asked[closed.connection] = nil }
        return true
    }

    @discardableResult private mutating func end(_ question: Int) -> Question? {
        guard let ended = questions.removeValue(forKey: question) else { return nil }
        quota.giveBack(1, for: ended.audience.client)
        return ended
    }

    /// Notes that a connection can no longer answer. Its questions are moved once, to another connection that has
    /// declared the name.
    mutating func connectionCannotAnswer(_ connection: Int, perConnection: Int, isReachable: (Int) -> Bool) -> [Action]
    {
        withdraw(connection)
        let orphans = asked.removeValue(forKey: connection) ?? []
        return orphans.sorted().map { number in
            guard let question = questions[number], !question.hasMoved,
                case .success(let next) = choose(
                    question.audience, perConnection, { $0 != connection && isReachable($0) })
            else {
                end(number)
                return .fail(number, .disconnected)
            }
            questions[number]?.hasMoved = true
            questions[number]?.connection = next
            asked[next, default: []].insert(number)
            return .send(number, to: next)
        }
    }
}
