/// The evaluations of the servers of the connections that are made for a transfer: one for each connection.
struct TrustEvaluations {
    /// That of the latest connection; `nil` for the standard check.
    private(set) var latest: TrustEvaluation?
    private var acceptances: Set<TrustEvaluation.Acceptance> = []
    private var questions = 0

    /// The most questions to callers for one transfer. Each costs a connection more, since the connection whose server
    /// is in question is closed.
    private static let maximumQuestions = 3

    /// Begins the evaluation of a connection; false if memory is out.
    mutating func begin(_ evaluator: ServerTrustEvaluator?, store: TrustStore?, host: String, port: UInt16) -> Bool {
        guard let evaluator else { return true }
        latest = TrustEvaluation(evaluator, store: store, host: host, port: port, acceptances: acceptances)
        return latest != nil
    }

    /// A new connection may be made, or one may be used that was evaluated for another transfer.
    mutating func willConnect() { latest = nil }

    /// Whether a request may be sent: the server of the connection that was made, if one was, is accepted.
    var allowRequest: Bool { latest?.isAccepted ?? true }

    /// Why the server of the latest connection was refused.
    var failure: ServerTrustFailure? {
        if let failure = latest?.failure { return failure }
        guard latest?.undecided != nil, questions >= TrustEvaluations.maximumQuestions else { return nil }
        return latest?.refusal("the server sends another chain with each connection")
    }

    /// The question that a caller has to decide before the next connection; counts it.
    mutating func nextQuestion() -> TrustEvaluation.PendingQuestion? {
        guard let question = latest?.question else { return nil }
        questions += 1
        return question
    }

    /// Adds a caller's decision to trust a chain.
    mutating func accept(_ acceptance: TrustEvaluation.Acceptance) {
        acceptances.insert(acceptance)
        latest = nil
    }
}
