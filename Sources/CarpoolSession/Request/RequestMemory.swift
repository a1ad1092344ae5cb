/// An account of the memory that requests take in addition to what came with their calls.
public protocol RequestMemory: AnyObject {
    /// Counts so many bytes for a request, in place of what was counted for it before.
    /// - Throws: if the limit is reached; the previous count stays.
    func count(_ bytes: Int, forRequest id: String) throws(SessionError)
}
