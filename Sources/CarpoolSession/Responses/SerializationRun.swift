internal import CarpoolSystem

/// What one serializer made of a response.
public struct SerializedResponse {
    /// The serializer's name.
    public let serializer: String
    /// Its value, or why there is none: the request's own failure, or the serializer's.
    public let result: Result<SerializedValue, SessionError>
    /// What it took, in microseconds; 0 for the plain handler (DR-05).
    public let durationMicroseconds: Int

    /// Why there is no value.
    public var error: SessionError? {
        if case .failure(let error) = result { return error }
        return nil
    }
}

/// Runs the serializers of a request one after the other, in the order given, and tells the monitor of each (RL-15).
final class SerializationRun {
    private let request: Request
    private let serializers: [any ResponseSerializer]
    private let completion: ([SerializedResponse]) -> Void
    private var results: [SerializedResponse] = []
    /// Whether results from the first failure on are left for the caller to announce: a retrier may put its own error in their place.
    private let holdsFailures: Bool
    /// How many results, the last ones, were not announced.
    private(set) var heldCount = 0
    /// The number of the answer that is waited for; another one comes too late.
    private var expected = 0
    private var isWaiting = false
    private var isStepping = false

    init(
        _ request: Request, _ serializers: [any ResponseSerializer], holdsFailures: Bool = false,
        completion: @escaping ([SerializedResponse]) -> Void
    ) {
        self.holdsFailures = holdsFailures
        self.request = request
        self.serializers = serializers
        self.completion = completion
    }

    /// Begins, or goes on behind the serializer that has just answered.
    func step() {
        guard !isStepping else { return }
        isStepping = true
        while !isWaiting, results.count < serializers.count { serialize(by: serializers[results.count]) }
        isStepping = false
        if !isWaiting { completion(results) }
    }

    /// Gives up the serializer that has not answered: its request has failed in the meantime, and so do all that follow.
    func abort() {
        guard isWaiting else { return }
        isWaiting = false
        step()
    }

    private func serialize(by serializer: any ResponseSerializer) {
        if let error = request.responseFailure { return add(serializer, .failure(error), since: nil) }
        let start = MonotonicTime.read()
        expected &+= 1
        let question = expected
        isWaiting = true
        serializer.serialize(request) { [self] result in
            guard isWaiting, question == expected else { return }
            isWaiting = false
            add(serializer, result, since: serializer.isTyped ? start : nil)
            step()
        }
    }

    private func add(
        _ serializer: any ResponseSerializer, _ result: Result<SerializedValue, SessionError>,
        since start: MonotonicTime?
    ) {
        let response = SerializedResponse(
            serializer: serializer.name, result: result,
            durationMicroseconds: start.map { MonotonicTime.read().microseconds(since: $0) } ?? 0)
        results.append(response)
        if holdsFailures, heldCount > 0 || response.error != nil {
            heldCount &+= 1
            return
        }
        request.session.notify(.didParse(response), of: request)
    }
}
