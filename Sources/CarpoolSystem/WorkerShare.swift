/// The account that a job of the ``Worker`` is scheduled under: one client of one user, or the process itself.
public struct WorkerShare: Hashable, Sendable {
    /// The user that the job is done for; `nil` for the process's own jobs, which no limit per user holds back.
    public let user: UInt32?
    /// The client of that user.
    public let client: String

    /// The share of a client.
    public init(user: UInt32, client: String) {
        self.user = user
        self.client = client
    }

    private init(own name: String) {
        user = nil
        client = name
    }

    /// The share of jobs that no client asked for, such as reading the configuration.
    public static let process = WorkerShare(own: "process")
}
