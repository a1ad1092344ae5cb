internal import CarpoolHTTP

/// Parameters that are encoded before their request is made, for those that would hold the loop: the bytes, or why there are none.
public final class EncodedParameters: Sendable {
    let encoding: ParameterEncoding
    let bytes: Result<[UInt8], SessionError>

    /// Encodes parameters; on any thread. A failure is the request's, when it is made.
    public init(_ parameters: StructuredValue, _ encoding: ParameterEncoding) {
        self.encoding = encoding
        bytes = Result { () throws(SessionError) in try encoding.bytes(of: parameters) }
    }

    /// How many bytes of memory it takes.
    var memoryBytes: Int { (try? bytes.get().count) ?? 0 }
}
