/// What a reader of a stream gets at a time.
public struct StreamMessage: Sendable {
    /// What it holds.
    public enum Content: Sendable {
        /// Records, in order; one, where the serializer has no records but pieces.
        case records([StreamRecord.Content])
        /// Why there is no record at this place; the next message goes on behind it.
        case failure(SessionError)
        /// The last message: the request is over.
        case complete(StreamCompletion)
    }

    /// Its number, from 1: of one reader's messages none is left out.
    public let sequence: Int
    /// The attempt whose body it is of, from 1 (ST-12).
    public let attempt: Int
    /// The bytes of the stream that it took, which its reader's credit pays for.
    public let sizeBytes: Int
    /// What it holds.
    public let content: Content
}

/// How a stream ended (ST-03).
public struct StreamCompletion: Sendable {
    /// Why it failed, which validators may say after all of the data (ST-09); `nil` if it came whole (ST-13).
    public let error: SessionError?
    /// Where its request has ended.
    public let state: RequestState
    /// The status of the last response.
    public let status: Int?
    /// The bytes of the last attempt's body.
    public let sizeBytes: Int64
}

/// One step of a reader, for monitors (EM-36).
public struct ParsedStream {
    /// What the reader gets the bytes as.
    public let serializer: StreamSerializer
    /// What came of them.
    public let message: StreamMessage
}
