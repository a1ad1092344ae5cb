/// `%{json}` and `%{header_json}` of the real curl 8.14.1, with its version cut to two names.
enum CurlWriteOutCases {
    static let success = #"""
        {"certs":"","conn_id":0,"content_type":"text/plain; charset=x","errormsg":null,"exitcode":0,\#
        "filename_effective":"/dev/null","ftp_entry_path":null,"http_code":200,"http_connect":0,\#
        "http_version":"1.1","local_ip":"127.0.0.1","local_port":58376,"method":"GET","num_certs":0,\#
        "num_connects":1,"num_headers":8,"num_redirects":0,"num_retries":0,"proxy_ssl_verify_result":0,\#
        "proxy_used":0,"redirect_url":null,"referer":null,"remote_ip":"127.0.0.1","remote_port":1234,\#
        "response_code":200,"scheme":"http","size_download":2,"size_header":143,"size_request":82,\#
        "size_upload":0,"speed_download":2103,"speed_upload":0,"ssl_verify_result":0,"time_appconnect":0.000000,\#
        "time_connect":0.000144,"time_namelookup":0.000017,"time_posttransfer":0.000190,\#
        "time_pretransfer":0.000177,"time_queue":0.000021,"time_redirect":0.000000,\#
        "time_starttransfer":0.000917,"time_total":0.000951,"tls_earlydata":0,\#
        "url":"http://127.0.0.1:1234/x?y#f","url.fragment":"f","url.host":"127.0.0.1","url.options":null,\#
        "url.password":null,"url.path":"/x","url.port":"1234","url.query":"y","url.scheme":"http",\#
        "url.user":null,"url.zoneid":null,"url_effective":"http://127.0.0.1:1234/x?y#f","urle.fragment":"f",\#
        "urle.host":"127.0.0.1","urle.options":null,"urle.password":null,"urle.path":"/x","urle.port":"1234",\#
        "urle.query":"y","urle.scheme":"http","urle.user":null,"urle.zoneid":null,"urlnum":0,"xfer_id":0,\#
        "curl_version":"libcurl/8.14.1 OpenSSL/3.0.19"}
        """#

    static let failure = #"""
        {"certs":"","conn_id":0,"content_type":null,\#
        "errormsg":"Failed to connect to 127.0.0.1 port 1 after 0 ms: Could not connect to server","exitcode":7,\#
        "filename_effective":"/dev/null","ftp_entry_path":null,"http_code":0,"http_connect":0,\#
        "http_version":"0","local_ip":"","local_port":-1,"method":"GET","num_certs":0,"num_connects":0,\#
        "num_headers":0,"num_redirects":0,"num_retries":0,"proxy_ssl_verify_result":0,"proxy_used":0,\#
        "redirect_url":null,"referer":null,"remote_ip":"","remote_port":-1,"response_code":0,"scheme":"http",\#
        "size_download":0,"size_header":0,"size_request":0,"size_upload":0,"speed_download":0,"speed_upload":0,\#
        "ssl_verify_result":0,"time_appconnect":0.000000,"time_connect":0.000000,"time_namelookup":0.000019,\#
        "time_posttransfer":0.000000,"time_pretransfer":0.000000,"time_queue":0.000022,"time_redirect":0.000000,\#
        "time_starttransfer":0.000000,"time_total":0.000142,"tls_earlydata":0,"url":"http://127.0.0.1:1/",\#
        "url.fragment":null,"url.host":"127.0.0.1","url.options":null,"url.password":null,"url.path":"/",\#
        "url.port":"1","url.query":null,"url.scheme":"http","url.user":null,"url.zoneid":null,\#
        "url_effective":"http://127.0.0.1:1/","urle.fragment":null,"urle.host":"127.0.0.1","urle.options":null,\#
        "urle.password":null,"urle.path":"/","urle.port":"1","urle.query":null,"urle.scheme":"http",\#
        "urle.user":null,"urle.zoneid":null,"urlnum":0,"xfer_id":0,\#
        "curl_version":"libcurl/8.14.1 OpenSSL/3.0.19"}
        """#

    static let fields = #"""
        {"content-type":["text/plain; charset=x"],
        "x-a":["1","two"],
        "x-e":[""],
        "set-cookie":["a=\"b\"\\"],
        "x-tab":["a\tb\u0001"],
        "x-l":["é"],
        "content-length":["2"]
        }
        """#
}
