internal import CarpoolSystem

/// Runs the serializers of a request one after the other, in the order given, and notifies the monitor of each (RL-15).
final class SerializationRun {
    private let request: Request
    private let serializers: [any ResponseSerializer]
    private let completion: (_ results: [SerializedResponse], _ heldCount: Int) -> Void
    private var results: [SerializedResponse] = []
    /// Whether results from the first failure on are left for the caller to announce: a retrier may replace the error.
    private let holdsFailures: Bool
    /// The number of results, at the end, that were not announced.
    private var heldCount = 0
    /// The number of the expected answer; another one is late.
    private var expected = 0
    private var isWaiting = false
    private var isStepping = false

    init(
        _ request: Request, _ serializers: [any ResponseSerializer], holdsFailures: Bool = false,
        completion: @escaping (_ results: [SerializedResponse], _ heldCount: Int) -> Void
    ) {
        self.holdsFailures = holdsFailures
        self.request = request
        self.serializers = serializers
        self.completion = completion
    }

    /// Starts the next serializer.
    func step() {
        guard !isStepping else { return }
        isStepping = true
        while !isWaiting, results.count < serializers.count { serialize(by: serializers[results.count]) }
        isStepping = false
        if !isWaiting { completion(results, heldCount) }
    }

    /// Aborts the serializer that has not answered: its request has failed in the meantime, and so do all that follow.
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
