public import CarpoolHTTP

/// The result of a request that is over: its record, and the serialized value or the failure (session model §1.13).
public struct DataResponse<Value> {
    /// The last request that was built; `nil` if none could be built.
    public let request: TransportRequest?
    /// The head of the last response; also there when the response was not acceptable.
    public let response: ResponseHead?
    /// The body as received, in memory or in a file, whether or not the request failed.
    public let body: ResponseBody
    /// The attempts, each with its hops and their metrics.
    public let attempts: [Attempt]
    /// The times of the steps.
    public let timeline: Timeline
    /// The duration of the serializer, in microseconds; 0 for an unserialized response (DR-05).
    public let serializationDurationMicroseconds: Int
    /// The value, or the failure.
    public let result: Result<Value, SessionError>

    /// The value, if there is one.
    public var value: Value? { try? result.get() }

    /// The failure, if there is one.
    public var error: SessionError? {
        if case .failure(let error) = result { return error }
        return nil
    }

    /// The bytes of the body, from memory or file; `nil` if there are none, or more than
    /// ``SerializerInput/maximumBytes`` (DR-01).
    public var data: [UInt8]? { body.count > 0 ? try? body.bytes(atMost: SerializerInput.maximumBytes) : nil }

    /// The metrics of the last hop.
    public var metrics: TransferMetrics? { attempts.last?.hops.last?.metrics }
}

extension DataResponse: CustomStringConvertible {
    /// The result.
    public var description: String { "\(result)" }
}
