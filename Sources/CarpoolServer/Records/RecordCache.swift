internal import CarpoolJSON
internal import CarpoolSession
internal import CarpoolSystem

/// The record that was written last, for calls that ask for the same one in the same turn of the loop.
struct RecordCache {
    /// The values that a record's text depends on within a turn.
    struct Key: Equatable {
        let turn: Int
        let request: Int
        let isForOthers: Bool
        let level: RecordLevel
        let limit: Int
        let status: Status
    }

    /// The parts of a record that calls of the same turn may change.
    struct Status: Equatable {
        let state: RequestState
        let isFinished: Bool
        let isHeld: Bool
        let retryCount: Int
        let hasResponse: Bool
        let receivedBytes: Int64?
        let resumeData: String?
        let keepsBodyInMemory: Bool
        let file: String?
        let expires: Int64?

        init(_ request: Request, _ spooled: SpooledBody?) {
            state = request.state
            isFinished = request.isFinished
            isHeld = request.isPausedAtHead
            retryCount = request.retryCount
            hasResponse = request.response != nil
            receivedBytes = request.download?.count
            resumeData = request.resumeData
            keepsBodyInMemory = request.body.isKeptInMemory
            file = spooled?.path
            expires = spooled?.expires
        }
    }

    private var key: Key?
    private var text: [UInt8] = []

    /// Longer texts are not kept.
    private static let maximumBytes = 262_144

    /// The text for a key, if it is the one that was written last.
    subscript(key: Key) -> [UInt8]? { self.key == key ? text : nil }

    /// Keeps a text in place of the last one.
    mutating func keep(_ text: UnsafeRawBufferPointer, for key: Key) {
        guard text.count <= RecordCache.maximumBytes else { return }
        self.key = key
        self.text = [UInt8](text)
    }

    /// Releases the memory.
    mutating func removeAll() { self = RecordCache() }
}
