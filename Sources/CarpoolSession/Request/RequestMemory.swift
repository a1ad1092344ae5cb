/// An account of the memory that requests take besides what came with their calls.
public protocol RequestMemory: AnyObject {
    /// Counts so many bytes for a request from now on, in place of what was counted for it before.
    /// - Throws: if there is no room for more; what was counted before stays.
    func count(_ bytes: Int, for request: Request) throws(SessionError)
}

extension Session {
    /// Counts what a request takes now. Cheap where there is little: most requests have one attempt and no adapter.
    func account(for request: Request) throws(SessionError) {
        let bytes = request.grownBytes
        guard bytes != request.countedBytes else { return }
        try memory?.count(bytes, for: request)
        request.countedBytes = bytes
    }

    /// Counts what a request takes that is to be sent again. Its record loses the fields of earlier responses before it is refused.
    func accountForRetry(of request: Request) throws(SessionError) {
        request.letGoOfFields()
        do throws(SessionError) { try account(for: request) } catch {
            request.letGoOfAllFields()
            try account(for: request)
        }
    }
}
