/// The account that a job of the ``Worker`` is scheduled under: one client of one user, or a part of the process
/// itself.
public struct WorkerShare: Hashable, Sendable {
    /// The user that the job is done for; `nil` for the process's own jobs, which no limit per user holds back.
    public let user: UInt32?
    /// The client of that user.
    public let client: String
    /// Whether its jobs only compute: they use no file, so that none of them waits for a disk, and jobs on files
    /// never delay them.
    public let isComputation: Bool

    /// The share of a client.
    public init(user: UInt32, client: String) { self.init(user: user, client: client, isComputation: false) }

    private init(user: UInt32?, client: String, isComputation: Bool) {
        self.user = user
        self.client = client
        self.isComputation = isComputation
    }

    /// The share of the same account for jobs that only compute.
    public var computation: WorkerShare { WorkerShare(user: user, client: client, isComputation: true) }

    /// The share of the process's own jobs, such as reading the configuration.
    public static let process = WorkerShare(user: nil, client: "process", isComputation: false)

    /// The share of jobs that check files that clients have left behind, on any disk.
    public static let housekeeping = WorkerShare(user: nil, client: "housekeeping", isComputation: false)
}
