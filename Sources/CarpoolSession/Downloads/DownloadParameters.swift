public import CarpoolHTTP

/// The parameters of a download, in addition to those of every request.
public struct DownloadParameters {
    /// The destination of the file.
    public var destination = DownloadDestination.spool
    /// Whether the path of the destination has no symbolic links, because they were resolved when it was given. A link
    /// that is found later was created since, and is not followed.
    public var isResolved = false
    /// How the file is moved to the destination (DL-05).
    public var options = DownloadOptions()
    /// Whether the validators run before the file gets its name, so that no error page replaces a good file. In the
    /// session model they run afterwards (DL-01, DL-07).
    public var validatesBeforeMove = true
    /// The point at which an earlier download stopped.
    public var resumePoint: ResumePoint?
    /// The index of partial files, which removes old ones.
    public var index: PartialFileIndex?

    /// Makes parameters with all defaults.
    public init() {}
}

/// The destination of a download.
public enum DownloadDestination {
    /// A file of the session's spool (DL-02).
    case spool
    /// A file by its absolute path.
    case file(String)
    /// A directory by its absolute path; the response names the file (DL-03).
    case directory(String)
    /// The decider returns the destination after it has seen the head of the response (DL-04).
    case ask(any DestinationDecider)
}

/// Chooses the destination of a download.
public protocol DestinationDecider: AnyObject {
    /// Returns the destination. Called once the head of a response has arrived; the body waits. Answers once, now or
    /// later, on the session's loop.
    func destination(
        of request: Request, for response: ResponseHead, suggestedName: String,
        completion: @escaping (Result<DecidedDestination, SessionError>) -> Void)
}

/// The answer of a ``DestinationDecider``.
public enum DecidedDestination {
    /// A file by its absolute path.
    case file(String, DownloadOptions)
    /// A file of the session's spool.
    case spool
}
