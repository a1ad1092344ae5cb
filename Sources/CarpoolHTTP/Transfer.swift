/// The handle of one hop under way. Its number is unique in its transport.
public final class Transfer {
    /// The number that names it.
    public let id: Int
    /// What was asked for.
    public let request: TransportRequest

    init(id: Int, request: TransportRequest) {
        self.id = id
        self.request = request
    }
}
