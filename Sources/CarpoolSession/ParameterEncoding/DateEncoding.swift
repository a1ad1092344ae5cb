extension URLEncodedFormEncoder.DateEncoding {
    /// The text for seconds since 1970.
    func text(for seconds: Double) throws(EncodingFailure) -> String {
        switch self {
        case .deferredToDate: return DateValue.sinceReferenceDate(seconds).description
        case .secondsSince1970: return seconds.description
        case .millisecondsSince1970: return DateValue.milliseconds(seconds).description
        case .iso8601: return try text(seconds, .internet)
        case .formatted(let format): return try text(seconds, format)
        case .custom(let convert): return try EncodingFailure.catching { try convert(seconds) }
        }
    }

    private func text(_ seconds: Double, _ format: DateFormat) throws(EncodingFailure) -> String {
        guard let text = format.text(forSecondsSince1970: seconds) else { throw .invalidDate(seconds) }
        return text
    }
}
