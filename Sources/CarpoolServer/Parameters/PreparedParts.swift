internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession

/// What a thread has made of the parts of a large call that are costly to read: its body, its parameters, its fingerprint.
final class PreparedParts: Sendable {
    /// The bytes of `body.text`, `body.json` or `body.base64`; `nil` if there are none of these.
    let body: Result<[UInt8]?, RPCError>
    /// `parameters` in its `encoding`; `nil` if there are none.
    let parameters: Result<EncodedParameters?, RPCError>
    /// The stand-in for all parameters; `nil` if no key asks for one.
    let fingerprint: UInt64?

    /// Reads the parts, on any thread. Leaves no tree of a large value with the parameters.
    init(_ params: Params) {
        let (body, values, encoding) = (params["body"], params["parameters"], params["encoding"])
        self.body = Result { () throws(RPCError) in
            guard let body, body.kind == .object else { return nil }
            return try RequestReader.bytes(body, path: "params.body")
        }
        parameters = Result { () throws(RPCError) in
            // With a body they are refused.
            guard body == nil, let value = try EncodingReader().parameters(values) else { return nil }
            return EncodedParameters(value, try EncodingReader().encoding(encoding))
        }
        fingerprint = params["key"] == nil ? nil : Fingerprint.of(params)
        params.forgetLargeValues()
    }

    /// Methods whose calls have such parts.
    static let methods: Set<String> = ["request.perform", "request.submit"]
}
