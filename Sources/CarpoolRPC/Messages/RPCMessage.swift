public import CarpoolJSON

/// A call, or a notification if it has no id.
public struct RPCRequest {
    /// The id to answer with; nil for a notification, which is never answered.
    public let id: RPCID?
    /// The method's name.
    public let method: String
    /// An object or an array, if there are parameters.
    public let params: JSON?

    /// The same call without its parameters.
    public var withoutParameters: RPCRequest { RPCRequest(id: id, method: method, params: nil) }
}

/// A response to a call that this side has made.
public struct RPCResponse {
    /// The result, or the error object.
    public enum Outcome {
        /// The call succeeded.
        case result(JSON)
        /// The call failed.
        case error(JSON)
    }

    /// The id of the call.
    public let id: RPCID
    /// The result.
    public let outcome: Outcome
}

/// One message of JSON-RPC 2.0.
public enum RPCMessage {
    /// A call or a notification.
    case request(RPCRequest)
    /// An answer.
    case response(RPCResponse)
    /// Neither. It is answered with the error, and with the id if one could be read, else null (§5).
    case invalid(RPCID?, RPCError)
    /// A message with an id and without a method, such as an answer with both a result and an error, or with neither.
    case invalidResponse(RPCID, RPCError)

    /// Classifies one message of a batch.
    public init(_ message: MessageText) {
        do throws(RPCError) {
            let message = try message.read()
            guard let outline = message.outline else { throw .invalidRequest("no JSON text") }
            self.init(message.bytes, outline)
        } catch {
            self = .invalid(nil, error)
        }
    }

    /// Classifies a text that has been read.
    init(_ text: [UInt8], _ outline: JSONOutline) {
        guard text.withUnsafeBytes({ outline.root.bytes(of: $0).first }) == UInt8(ascii: "{") else {
            self = .invalid(nil, .invalidRequest("a message is an object"))
            return
        }
        guard outline.partCount <= JSONOutline.maximumParts else {
            self = .invalid(nil, .invalidRequest("a message has at most \(JSONOutline.maximumParts) members"))
            return
        }
        let envelope = Envelope(text, outline)
        var id: RPCID?
        do throws(RPCError) {
            if let span = envelope.id { id = try RPCID(envelope, span) }
            if let name = envelope.duplicateName {
                if envelope.hasSeveralIDs { id = nil }
                throw .invalidRequest("the member \(name) stands twice")
            }
            guard let version = envelope.version, envelope.isString(version, "2.0") else {
                throw .invalidRequest("jsonrpc must be \"2.0\"")
            }
            self = try RPCMessage.classify(envelope, id: id)
        } catch {
            self = if let id, envelope.method == nil { .invalidResponse(id, error) } else { .invalid(id, error) }
        }
    }

    private static func classify(_ envelope: Envelope, id: RPCID?) throws(RPCError) -> RPCMessage {
        switch (envelope.method, envelope.result, envelope.error) {
        case (let method?, nil, nil):
            guard let name = envelope.string(method) else { throw .invalidRequest("method is a string") }
            return .request(RPCRequest(id: id, method: name, params: try params(of: envelope)))
        case (nil, let result?, let error?):
            // JSON-RPC 1.0 has both, one of them null, and many libraries still write that.
            let (hasResult, hasError) = (!envelope.isNull(result), !envelope.isNull(error))
            guard !hasResult || !hasError else { break }
            return try hasError ? .failed(envelope, error, id) : .answered(envelope, result, id)
        case (nil, let result?, nil): return try .answered(envelope, result, id)
        case (nil, nil, let error?): return try .failed(envelope, error, id)
        case (nil, nil, nil): throw .invalidRequest("method is missing")
        default: break
        }
        throw .invalidRequest("a message has one of method, result and error")
    }

    private static func params(of envelope: Envelope) throws(RPCError) -> JSON? {
        guard let span = envelope.params else { return nil }
        switch envelope.firstByte(span) {
        case UInt8(ascii: "{"), UInt8(ascii: "["): return try envelope.json(span)
        // Null is no structured value (§4.2), but several libraries send it for calls without parameters.
        case UInt8(ascii: "n"): return nil
        default: throw .invalidRequest("params is an object or an array")
        }
    }

    private static func answered(_ envelope: Envelope, _ result: JSONSpan, _ id: RPCID?) throws(RPCError) -> RPCMessage
    {
        guard let id else { throw .invalidRequest("a response has an id") }
        return .response(RPCResponse(id: id, outcome: .result(try envelope.json(result))))
    }

    private static func failed(_ envelope: Envelope, _ error: JSONSpan, _ id: RPCID?) throws(RPCError) -> RPCMessage {
        guard let id else { throw .invalidRequest("a response has an id") }
        return .response(RPCResponse(id: id, outcome: .error(try envelope.json(error))))
    }
}

@available(*, unavailable)
extension RPCMessage: Sendable {}
