public import CarpoolJSON

/// A call, or a notification if it has no id.
public struct RPCRequest {
    /// The id to answer with; nil for a notification, which is never answered.
    public let id: RPCID?
    /// The method's name.
    public let method: String
    /// An object or an array, if there are parameters.
    public let params: JSON?
}

/// An answer to a call of ours.
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
    /// What came of it.
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

    /// Tells what a value is.
    /// - Parameter text: The value's own text, for the spelling of its id.
    init(_ json: JSON, text: UnsafeRawBufferPointer) {
        guard json.kind == .object else {
            self = .invalid(nil, .invalidRequest("a message is an object"))
            return
        }
        var id: RPCID?
        if let value = json["id"] {
            guard RPCID.allows(value), let spelling = RawJSON.member("id", of: text) else {
                self = .invalid(nil, .invalidRequest("an id is a string, a number or null"))
                return
            }
            guard spelling.count <= RPCID.maximumBytes else {
                self = .invalid(nil, .invalidRequest("the id has more than \(RPCID.maximumBytes) bytes"))
                return
            }
            id = RPCID(value, spelled: spelling)
        }
        guard let version = json["jsonrpc"], version.isString("2.0") else {
            self = .invalid(id, .invalidRequest("jsonrpc must be \"2.0\""))
            return
        }
        self = RPCMessage.tell(json, id: id)
    }

    private static func tell(_ json: JSON, id: RPCID?) -> RPCMessage {
        switch (json["method"], json["result"], json["error"]) {
        case (let method?, nil, nil):
            guard let name = method.string else { return .invalid(id, .invalidRequest("method is a string")) }
            // Null is no structured value (§4.2), but several libraries send it for calls without parameters.
            let params = json["params"].flatMap { $0.isNull ? nil : $0 }
            guard params == nil || params?.kind == .object || params?.kind == .array else {
                return .invalid(id, .invalidRequest("params is an object or an array"))
            }
            return .request(RPCRequest(id: id, method: name, params: params))
        case (nil, let result?, nil):
            guard let id else { return .invalid(nil, .invalidRequest("a response has an id")) }
            return .response(RPCResponse(id: id, outcome: .result(result)))
        case (nil, nil, let error?):
            guard let id else { return .invalid(nil, .invalidRequest("a response has an id")) }
            return .response(RPCResponse(id: id, outcome: .error(error)))
        case (nil, nil, nil): return .invalid(id, .invalidRequest("method is missing"))
        default: return .invalid(id, .invalidRequest("a message has one of method, result and error"))
        }
    }
}

@available(*, unavailable)
extension RPCMessage: Sendable {}
