internal import CarpoolSystem

/// Runs the serializers of a request one after the other, in the order given, and notifies the monitor of each (RL-15).
final class SerializationRun {
    private let request: Request
    private let serializers: [any ResponseSerializer]
    private let completion: (_ results: [SerializedResponse], _ deferredCount: Int) -> Void
    private var results: [SerializedResponse] = []
    /// Whether the caller announces the results from the first failure on: a retrier may replace the error.
    private let defersFailures: Bool
    /// The number of results, at the end, that were not announced.
    private var deferredCount = 0
    /// Grows with each serializer: an answer of an earlier generation is late.
    private var generation = 0
    private var isWaiting = false
    private var isStepping = false

    init(
        _ request: Request, _ serializers: [any ResponseSerializer], defersFailures: Bool = false,
        completion: @escaping (_ results: [SerializedResponse], _ deferredCount: Int) -> Void
    ) {
        self.defersFailures = defersFailures
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
        if !isWaiting { completion(results, deferredCount) }
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
        generation += 1
        let asked = generation
        isWaiting = true
        serializer.serialize(request) { [self] result in
            guard isWaiting, asked == generation else { return }
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
        if defersFailures, deferredCount > 0 || response.error != nil {
            deferredCount += 1
            return
        }
        request.session.notify(.didParse(response), of: request)
    }
}
