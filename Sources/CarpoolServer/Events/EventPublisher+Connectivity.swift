internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession

// What the network's coming and going does to a request.
extension EventPublisher {
    func request(_ request: Request, taskIsWaitingForConnectivity path: NetworkPath) {
        publish(.taskIsWaitingForConnectivity, request: request) { writer in
            writer.member("status", path.status.rawValue)
            writer.member("reason", path.reason)
        }
    }
}
