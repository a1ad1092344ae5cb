internal import CarpoolSystem

/// An encoded reading, shared by all watches.
struct EncodedReading {
    /// The values that the text depends on.
    struct Key: Equatable {
        let time: MonotonicTime
        let evaluations: Int
        let interfaceBytes: Int
    }

    let key: Key
    let bytes: [UInt8]
}
