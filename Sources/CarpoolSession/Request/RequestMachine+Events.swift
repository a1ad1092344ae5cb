internal import CarpoolHTTP

extension RequestMachine {
    /// What has happened.
    enum Event {
        /// A call resumes the request.
        case resume
        /// The request to send is made before the request is resumed (SE-11).
        case setUp
        /// A call suspends the request.
        case suspend
        /// A call cancels the request.
        case cancel(SessionError)
        /// The session ended under the request: no call cancelled it, and no event says so.
        case invalidated(SessionError)
        /// The time of the request is over, while no transfer runs.
        case deadlinePassed(TransportError)
        /// The request to send was made.
        case made(hasAdapters: Bool)
        /// The parameters make no request.
        case notMade(SessionError)
        /// The session takes no more requests.
        case refused(SessionError)
        /// The adapters have changed the request.
        case adapted
        /// An adapter failed.
        case notAdapted(SessionError)
        /// The body was created; `nil` if the request has none to create.
        case bodyMade(CreatedUpload?)
        /// The body could not be created.
        case bodyNotMade(SessionError)
        /// The last hop of the task ended; the failure explains the error.
        case ended(TransportError?, SessionError?)
        /// A validator has judged the response.
        case validated(String, index: Int, error: SessionError?)
        /// No validator is left, and the receiver has processed the body, or failed.
        case accepted(SessionError?)
        /// Whether a retrier may decide on the failure.
        case retriable(Bool)
        /// A retrier has decided.
        case retryAnswer(RetryAnswer)
        /// The delay of the retry is over.
        case timer
        /// The files are written and closed.
        case settled
        /// The serializers have returned; the first failure among them.
        case serialized(SessionError?)
    }

    /// What a retrier decided.
    enum RetryAnswer {
        /// Send the request again after so many milliseconds.
        case retry(milliseconds: Int)
        /// Ask the retrier with this index.
        case pass(to: Int)
        /// The request fails with this error.
        case fail(SessionError)
        /// No retrier is left.
        case exhausted
    }
}
