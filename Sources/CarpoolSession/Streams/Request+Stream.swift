// A request whose body is read as a stream.
extension Request {
    /// The response stream of a request of kind ``RequestKind/stream``, for its readers.
    public var stream: ResponseStream? { receiver as? ResponseStream }
}
