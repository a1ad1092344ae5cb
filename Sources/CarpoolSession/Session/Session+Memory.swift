// The memory that requests take in addition to what came with their calls.
extension Session {
    /// Counts the current memory of a request. Cheap for most requests, which have one attempt and no adapter.
    func account(for request: Request) throws(SessionError) {
        let bytes = request.addedBytes
        guard bytes != request.countedBytes else { return }
        try memory?.count(bytes, forRequest: request.id)
        request.countedBytes = bytes
    }

    /// Counts the memory of a request before a retry. The fields of earlier responses are released before the retry is
    /// refused.
    func accountForRetry(of request: Request) throws(SessionError) {
        request.releaseFieldsOverLimit()
        do throws(SessionError) { try account(for: request) } catch {
            request.releaseAllFields()
            try account(for: request)
        }
    }
}
