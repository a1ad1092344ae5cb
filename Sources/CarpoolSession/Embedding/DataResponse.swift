public import CarpoolHTTP

/// All that is known of a request that is over, and the value that was made of its response, or why there is none (session model §1.13).
public struct DataResponse<Value> {
    /// The request that was made last; `nil` if none could be made.
    public let request: TransportRequest?
    /// The head of the last response; also there when the response was not acceptable.
    public let response: ResponseHead?
    /// The body as it came, in memory or in a file, whether or not the request failed.
    public let body: ResponseBody
    /// The tries, each with its hops and what they cost.
    public let attempts: [Attempt]
    /// When the steps happened.
    public let timeline: Timeline
    /// What the serializer took, in microseconds; 0 for an unserialized response (DR-05).
    public let serializationDurationMicroseconds: Int
    /// The value, or why there is none.
    public let result: Result<Value, SessionError>

    /// The value, if there is one.
    public var value: Value? { try? result.get() }

    /// Why there is no value.
    public var error: SessionError? {
        if case .failure(let error) = result { return error }
        return nil
    }

    /// The bytes of the body, wherever they are; `nil` if there are none, or more than ``SerializerInput/maximumBytes`` (DR-01).
    public var data: [UInt8]? { body.count > 0 ? try? body.bytes(atMost: SerializerInput.maximumBytes) : nil }

    /// What the last hop cost.
    public var metrics: TransferMetrics? { attempts.last?.hops.last?.metrics }
}

extension DataResponse: CustomStringConvertible {
    /// The result.
    public var description: String { "\(result)" }
}
