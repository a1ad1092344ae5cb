internal import CCurl
internal import CarpoolSystem

extension Interest {
    /// The events that libcurl waits for on a socket (CURLMOPT_SOCKETFUNCTION).
    init(poll what: Int32) {
        switch what {
        case CURL_POLL_IN: self = .readable
        case CURL_POLL_OUT: self = .writable
        case CURL_POLL_INOUT: self = [.readable, .writable]
        default: self = []
        }
    }
}
