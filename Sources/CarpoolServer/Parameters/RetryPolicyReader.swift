internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession

/// Makes a retry policy of its options, which have passed their schema.
struct RetryPolicyReader {
    /// Where the options stand, for refusals.
    let path: String

    /// `retry_policy`.
    func retryPolicy(_ json: JSON) throws(RPCError) -> RetryPolicy {
        var policy = RetryPolicy(base: json["base"]?.int ?? 2) ?? RetryPolicy()
        try readDelays(json, into: &policy)
        // A policy that respects Retry-After retries the status that is sent with it (RFC 6585, section 4).
        if policy.respectsRetryAfter { policy.statuses.insert(429) }
        if let statuses = json["statuses"] {
            policy.statuses = []
            for index in 0..<statuses.count {
                policy.statuses.formUnion(statuses[index: index]?.int.map { [$0] } ?? [])
            }
        }
        if let codes = try codes(json) { policy.codes = codes }
        policy.retriesAllFailures = json["all_failures"]?.bool ?? false
        policy.retriesWithoutValidation = json["without_validation"]?.bool ?? false
        return policy
    }

    /// `connection_lost`.
    func connectionLost(_ json: JSON) throws(RPCError) -> RetryPolicy {
        var policy = RetryPolicy.connectionLost(base: json["base"]?.int ?? 2) ?? RetryPolicy()
        try readDelays(json, into: &policy)
        return policy
    }

    private func readDelays(_ json: JSON, into policy: inout RetryPolicy) throws(RPCError) {
        if let limit = json["limit"]?.int { policy.limit = limit }
        if let scale = json["scale_ms"]?.int { policy.scaleMilliseconds = scale }
        if let methods = try methods(json) { policy.methods = methods }
        if let jitter = json["jitter"]?.double {
            guard (0...1).contains(jitter) else {
                throw .invalidParams(
                    path: "\(path).jitter", message: "\(jitter) is out of range",
                    expected: "a part of the delay, from 0 to 1")
            }
            policy.jitter = jitter
        }
        policy.respectsRetryAfter = json["respect_retry_after"]?.bool ?? false
        policy.maximumDelayMilliseconds = json["max_delay_ms"]?.int
        policy.maximumBackOffMilliseconds = json["max_back_off_ms"]?.int
        policy.maximumElapsedMilliseconds = json["max_elapsed_ms"]?.int
    }

    /// The URL errors' numbers that the options name; `nil` if they name none.
    func codes(_ json: JSON) throws(RPCError) -> Set<Int>? {
        guard let list = json["codes"] else { return nil }
        var codes: Set<Int> = []
        for index in 0..<list.count {
            guard let code = list[index: index] else { continue }
            codes.insert(try number(code, path: "\(path).codes[\(index)]"))
        }
        return codes
    }

    /// The methods that the options name; `nil` if they name none.
    func methods(_ json: JSON) throws(RPCError) -> Set<String>? {
        guard let list = json["methods"] else { return nil }
        var methods: Set<String> = []
        for index in 0..<list.count {
            methods.insert(try method(list[index: index], path: "\(path).methods[\(index)]"))
        }
        return methods
    }

    private func method(_ json: JSON?, path: String) throws(RPCError) -> String {
        guard let text = json?.string, let method = HTTPMethod(text) else {
            throw .invalidParams(
                path: path, message: "not a request method", expected: "a token of RFC 9110 other than CONNECT")
        }
        return method.rawValue
    }

    private func number(_ json: JSON, path: String) throws(RPCError) -> Int {
        if let number = json.int, URLErrorCode.name(number) != nil { return number }
        if let number = json.string.flatMap(URLErrorCode.number) { return number }
        let name = json.string
        throw .invalidParams(
            path: path, message: "no URL error: \(json.int.map { "\($0)" } ?? (name ?? "").debugDescription)",
            expected: "a URL error's name or number, such as timed_out or -1001",
            didYouMean: name.flatMap { NearestName.find($0, among: URLErrorCode.names) })
    }
}
