internal import CarpoolHTTP

/// Parameters that were encoded before their request is made, because encoding them would block the loop: the bytes, or
/// the failure.
public final class EncodedParameters: Sendable {
    let encoding: ParameterEncoding
    let bytes: Result<[UInt8], SessionError>

    /// Encodes parameters, on any thread. A failure is reported when the request is made.
    public init(_ parameters: StructuredValue, _ encoding: ParameterEncoding) {
        self.encoding = encoding
        bytes = Result { () throws(SessionError) in try encoding.bytes(of: parameters) }
    }

    /// How many bytes of memory it takes.
    var memoryBytes: Int { (try? bytes.get().count) ?? 0 }
}
