/// One message to a reader of a stream.
public struct StreamMessage: Sendable {
    /// What it holds.
    public enum Content: Sendable {
        /// Records, in order; a single one for `bytes` and `text`.
        case records([StreamRecord.Content])
        /// A failure in place of a record; the next message continues behind it.
        case failure(SessionError)
        /// The last message: the request is over.
        case complete(StreamCompletion)
    }

    /// Its number, from 1, without gaps for one reader.
    public let sequence: Int
    /// The attempt whose body it belongs to, from 1 (ST-12).
    public let attempt: Int
    /// The bytes of the stream that it consumed, which are charged to its reader's credit.
    public let sizeBytes: Int
    /// Its content.
    public let content: Content
}

/// How a stream ended (ST-03).
public struct StreamCompletion: Sendable {
    /// The failure, which validators may report after all of the data (ST-09); `nil` if the body is complete (ST-13).
    public let error: SessionError?
    /// The final state of its request.
    public let state: RequestState
    /// The status of the last response.
    public let status: Int?
    /// The bytes of the last attempt's body.
    public let sizeBytes: Int64
}

/// One step of a reader, for monitors (EM-36).
public struct ParsedStream {
    /// The serializer of the reader.
    public let serializer: StreamSerializer
    /// The message that was parsed.
    public let message: StreamMessage
}
