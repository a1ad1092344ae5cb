// Serializers that run once more on a response.
extension Request {
    /// Runs serializers on the body of a request that is over, without sending anything again (RL-17). After a failure
    /// each of them returns that failure (RL-18).
    public func serialize(
        by serializers: [any ResponseSerializer], completion: @escaping ([SerializedResponse]) -> Void
    ) {
        whenFinished { request in SerializationRun(request, serializers) { results, _ in completion(results) }.step() }
    }
}
