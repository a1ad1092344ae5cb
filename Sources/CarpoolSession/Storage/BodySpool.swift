/// Stores large bodies. The daemon has its spool; a program that embeds the session has its own.
public protocol BodySpool: AnyObject {
    /// Makes a new, empty, unnamed file for the body of a request.
    /// - Parameter isHashed: whether the SHA-256 of the bytes is computed.
    func makeFile(for owner: any BodyOwner, isHashed: Bool) throws(SessionError) -> any SpoolFile
    /// The name that the complete file of a request's body has; `nil` if only the spool gives files their names.
    func path(for owner: any BodyOwner) -> String?
    /// Takes a complete file that has got the name of ``path(for:)``. One for which there is no room is removed.
    func adoptFile(at path: String, count: Int64, for owner: any BodyOwner) throws(SessionError) -> any SpoolFile
}

extension BodySpool {
    /// None.
    public func path(for owner: any BodyOwner) -> String? { nil }
    /// Fails: nobody asks without a path.
    public func adoptFile(
        at path: String, count: Int64, for owner: any BodyOwner
    ) throws(SessionError) -> any SpoolFile {
        throw .inputFileNil
    }
}

/// One body in the spool. Only ``contents()`` blocks on a disk: writes are buffered, and a file that cannot be written
/// fails its request later (``BodyOwner/failToStoreBody(_:)``).
public protocol SpoolFile: AnyObject {
    /// Appends bytes; fails when a quota is reached.
    func write(_ bytes: UnsafeRawBufferPointer) throws(SessionError)
    /// Whether the write buffer is full, so that the transfer has to wait; ``BodyOwner/continueBody()`` follows if so.
    var isFull: Bool { get }
    /// Writes everything, and renames the file to its final name: from then on it is complete. Returns the hash, if it
    /// was requested.
    func complete(_ completion: @escaping (Result<[UInt8]?, SessionError>) -> Void)
    /// Returns all bytes so far, whether the file is complete or not; fails with ``SessionError/inputFileNil`` once it
    /// is removed, and with ``SessionError/inputFileReadFailed(path:reason:)``. The caller has checked that they are
    /// not too many.
    func contents(_ completion: @escaping (Result<[UInt8], SessionError>) -> Void)
    /// Returns the bytes of a complete file; blocks while it is read.
    func contents() throws(SessionError) -> [UInt8]
    /// Removes the file, and frees its space in the quota.
    func discard()
    /// Its absolute path, once it is complete.
    var path: String? { get }
}
