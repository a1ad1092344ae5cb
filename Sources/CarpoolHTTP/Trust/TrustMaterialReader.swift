internal import CTLS

/// Why certificates or revocation lists cannot be used.
public enum TrustMaterialError: Error, Sendable, Equatable {
    /// They take more than this many bytes.
    case tooLarge(limitBytes: Int)
    /// There is none.
    case empty
    /// The one of this number, counted from 1, cannot be read.
    case unreadable(number: Int)
    /// There are more than this many.
    case tooMany(limit: Int)
    /// The revocation list of this number, counted from 1, is of a kind that is not used: a delta list, an indirect
    /// one, one of some reasons, or one with unknown critical extensions.
    case unsupportedList(number: Int)
}

/// Reads OpenSSL's objects from a PEM text, or from DER, one after the other.
struct TrustMaterialReader {
    /// Reads the next object of a PEM text.
    let fromPEM: (OpaquePointer?) -> OpaquePointer?
    /// Reads the object at a position, and moves the position behind it.
    let fromDER: (UnsafeMutablePointer<UnsafePointer<UInt8>?>, Int) -> OpaquePointer?
    let free: (OpaquePointer) -> Void
    /// The most objects that are accepted.
    let limit: Int
    /// Whether an object in DER may have fewer than 128 bytes, as a public key.
    var mayBeShort = false

    /// The most bytes that are read.
    static let maximumBytes = 1_048_576
    /// The most certificates in a list of pins.
    static let maximumCertificates = 256
    /// The most revocation lists that an evaluator has: all of them are compared with each certificate of a chain.
    static let maximumLists = 64

    /// The objects, at least one. The caller owns them.
    func read(_ bytes: [UInt8]) throws(TrustMaterialError) -> [OpaquePointer] {
        guard bytes.count <= TrustMaterialReader.maximumBytes else {
            throw .tooLarge(limitBytes: TrustMaterialReader.maximumBytes)
        }
        ERR_clear_error()
        defer { ERR_clear_error() }
        // Certificates and lists are long sequences, whose encoding begins like this; short ones have their length in
        // the second byte. A text before a PEM block may begin so too.
        let isDER =
            bytes.count > 2 && bytes[0] == 0x30
            && (bytes[1] >= 0x80 || mayBeShort && Int(bytes[1]) + 2 <= bytes.count && bytes[2] == 0x30)
        var (objects, failure) = isDER ? readDER(bytes) : readPEM(bytes)
        if isDER, failure == .unreadable(number: 1) {
            let (others, otherFailure) = readPEM(bytes)
            if !others.isEmpty || otherFailure != nil { (objects, failure) = (others, otherFailure) }
        }
        if failure == nil, objects.isEmpty { failure = .empty }
        guard let failure else { return objects }
        for object in objects { free(object) }
        objects = []
        throw failure
    }

    private func readPEM(_ bytes: [UInt8]) -> ([OpaquePointer], TrustMaterialError?) {
        var objects: [OpaquePointer] = []
        let failure: TrustMaterialError? = bytes.withUnsafeBytes { buffer in
            guard let input = BIO_new_mem_buf(buffer.baseAddress, Int32(buffer.count)) else {
                return .unreadable(number: 1)
            }
            defer { BIO_free(input) }
            while let object = fromPEM(input) {
                objects.append(object)
                if objects.count > limit { return .tooMany(limit: limit) }
            }
            // Without an error it has met a block that it cannot read, such as an empty one, and reads no further.
            return CTLS_is_at_end_of_pem() == 1 ? nil : .unreadable(number: objects.count + 1)
        }
        return (objects, failure)
    }

    private func readDER(_ bytes: [UInt8]) -> ([OpaquePointer], TrustMaterialError?) {
        var objects: [OpaquePointer] = []
        let failure: TrustMaterialError? = bytes.withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return nil }
            var position: UnsafePointer<UInt8>? = start
            while let current = position, current < start + buffer.count {
                guard let object = fromDER(&position, start + buffer.count - current) else {
                    return .unreadable(number: objects.count + 1)
                }
                objects.append(object)
                if objects.count > limit { return .tooMany(limit: limit) }
            }
            return nil
        }
        return (objects, failure)
    }
}
