public import CarpoolHTTP

/// What a download asks for besides what every request does.
public struct DownloadParameters {
    /// Where the file goes.
    public var destination = DownloadDestination.spool
    /// Whether the path of the destination has no symbolic links, because they were resolved when it was given. One that is found then was put
    /// there since, and is not followed.
    public var isResolved = false
    /// How it gets there (DL-05).
    public var options = DownloadOptions()
    /// Whether the validators judge the response before the file gets its name, so that no page of error replaces a good file. The session model
    /// has them judge afterwards (DL-01, DL-07).
    public var validatesBeforeMove = true
    /// Where an earlier download broke off.
    public var resumePoint: ResumePoint?
    /// Who remembers partial files, so that they go some day.
    public var index: PartialFileIndex?

    /// Makes parameters with every default.
    public init() {}
}

/// Where a download goes.
public enum DownloadDestination {
    /// A file of the session's spool (DL-02).
    case spool
    /// A file by its absolute path.
    case file(String)
    /// A directory by its absolute path; the response names the file (DL-03).
    case directory(String)
    /// Wherever somebody says who has seen the head of the response (DL-04).
    case ask(any DestinationDecider)
}

/// How the file of a download gets its name.
public struct DownloadOptions: Sendable {
    /// Whether a file that is there already is replaced, in one step; else the download fails.
    public var removesPreviousFile = false
    /// Whether missing directories are made, with mode 0777 less the umask.
    public var createsIntermediateDirectories = false
    /// What the file's mode, 0666, is less.
    public var umask: UInt32 = 0o022

    /// Makes options with every default.
    public init() {}
}

/// Says where a download goes.
public protocol DestinationDecider: AnyObject {
    /// Gives the destination. Called once the head of a response is there; the body waits. Answers once, now or later, on the session's
    /// loop.
    func destination(
        of request: Request, for response: ResponseHead, suggestedName: String,
        completion: @escaping (Result<DecidedDestination, SessionError>) -> Void)
}

/// What ``DestinationDecider`` decides.
public enum DecidedDestination {
    /// A file by its absolute path.
    case file(String, DownloadOptions)
    /// A file of the session's spool.
    case spool
}
