/// An answer that waits until the client has read more of its output.
struct DeferredAnswer {
    let entry: RequestEntry
    let write: () -> Void
}

/// Jobs that compute answers: few at a time, so that the other calls wait without the text of their answers if the
/// client does not read.
struct AnswerJobs {
    /// Answers that wait for a job.
    var waiting = NumberedQueue<DeferredAnswer>()
    /// The number of running jobs.
    var running = 0
    /// The maximum number of jobs of one connection.
    static let maximum = 4

    /// Whether one more job may start.
    var hasRoom: Bool { running < AnswerJobs.maximum }
}
