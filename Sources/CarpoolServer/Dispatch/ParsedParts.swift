internal import CarpoolRPC
internal import CarpoolSession

/// The costly parts of a large call, parsed by a worker: its body, its parameters, its fingerprint.
final class ParsedParts: Sendable {
    /// The bytes of `body.text`, `body.json` or `body.base64`; `nil` if there are none of these.
    let body: Result<[UInt8]?, RPCError>
    /// `parameters` in its `encoding`; `nil` if there are none.
    let parameters: Result<EncodedParameters?, RPCError>
    /// The hash of all parameters; `nil` without a key.
    let fingerprint: UInt64?

    init(
        body: Result<[UInt8]?, RPCError>, parameters: Result<EncodedParameters?, RPCError>, fingerprint: UInt64?
    ) {
        self.body = body
        self.parameters = parameters
        self.fingerprint = fingerprint
    }

    /// Methods whose calls have such parts.
    static let methods: Set<String> = ["request.perform", "request.submit"]
}
